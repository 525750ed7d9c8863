"""CSV: stable columns with units, one line per row or per sample."""

import csv
import io

from gemmviz.bench import export, results
from gemmviz.bench.document import Document
from gemmviz.bench.protocol import Protocol
from gemmviz.bench.stats import summarise
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.problem import Problem

KERNEL = find("gputiled", ladder())


def document() -> Document:
    good, bad = (results.new_row(KERNEL, Problem(8, 16, 24), {}) for _ in range(2))
    results.describe_samples(good, [1.0, 2.0, 3.0], summarise([1.0, 2.0, 3.0]), "steady", 2 * 10**9)
    hot = {"batch": 8, "samples_s": [0.5], "stats": summarise([0.5]), "gflops": 4.0}
    watched = {
        "sm_mhz": [1000.0, 2000.0],
        "power_w": [],
        "temp_c": [50.0, 60.0],
        "energy_j": None,
        "throttle": ["a", "b"],
    }
    good |= {"hot": hot, "telemetry": watched, "flags": ["noisy", "throttled"], "block": [16, 16, 1], "barriers": 1}
    results.fail(bad, "wrong", 'C[0, 0], "quoted"')
    return results.document({"cpu": {"model": "abacus"}}, {"name": "GPU"}, Protocol()) | {"results": [good, bad]}


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_a_row_becomes_a_line_with_its_figures():
    good, bad = read(export.to_csv(document()))
    wanted = {
        "device": "GPU",
        "cpu": "abacus",
        "kernel": "gputiled",
        "params": "TS=16",
        "block_threads": "16x16x1",
        "barriers": "1",
        "gflops": "1.0",
        "hot_gflops": "4.0",
        "median_s": "2.0",
        "samples": "3",
        "sm_mhz_median": "1500.0",
        "power_w_median": "",
        "temperature_c_max": "60.0",
        "throttle": "a b",
        "flags": "noisy; throttled",
    }
    assert {key: good[key] for key in wanted} == wanted
    assert (bad["status"], bad["message"], bad["gflops"]) == ("wrong", 'C[0, 0], "quoted"', "")


def test_the_columns_do_not_depend_on_the_rows():
    empty = document() | {"results": []}
    assert export.to_csv(empty) == export.to_csv(document()).splitlines()[0] + "\n"


def test_every_sample_becomes_a_line():
    lines = read(export.samples_to_csv(document()))
    assert [(line["pass"], line["sample"], line["seconds_per_launch"]) for line in lines] == [
        ("cold", "1", "1.0"),
        ("cold", "2", "2.0"),
        ("cold", "3", "3.0"),
        ("hot", "1", "0.5"),
    ]
