"""The figures of a session: measured here, references, samples and variants."""

from gemmviz.bench.figures import Figures, fullest_size
from gemmviz.bench.reference_results import ReferenceResults
from gemmviz.catalogue.kernel import parse


def row(kernel, gflops, n=64, status="ok", **more):
    base = {"kernel": kernel, "backend": "cuda", "M": n, "N": n, "K": n, "params": {}, "status": status}
    return base | {"gflops": gflops, "message": ""} | more


def elsewhere(*rows):
    return ReferenceResults("NVIDIA H200", "Xeon", "2026-11-21", Figures(rows))


def test_a_cancelled_row_does_not_take_the_place_of_a_figure(session):
    session.results.add_result(row("numpy", 100.0))
    session.results.add_result(row("numpy", None, status="cancelled"))
    assert session.results.rows["numpy"]["gflops"] == 100.0
    session.results.add_result(row("numpy", None, status="wrong"))
    assert session.results.rows["numpy"]["status"] == "wrong"


def test_a_round_replaces_the_one_before_and_sizes_are_kept_apart(session):
    for gflops in (10.0, 11.0, 12.0):
        session.results.add_result(row("gputiled", gflops))
    session.results.add_result(row("gputiled", 30.0, n=128))
    assert len(session.results.figures) == 2
    assert session.results.shown("gputiled", (64, 64, 64)).row["gflops"] == 12.0
    assert session.results.sizes() == [(64, 64, 64), (128, 128, 128)]
    assert session.results.rows["gputiled"]["N"] == 128


def test_sizes_follow_what_is_added_forgotten_and_shown(session):
    results = session.results
    results.set_references([elsewhere(row("cublas", 9.0, n=512))])
    results.want_references(False)
    assert results.sizes() == [] and results.shown_size() is None
    results.add_result(row("gputiled", 10.0))
    results.add_result(row("numpy", 10.0, n=128))
    assert results.sizes() == [(64, 64, 64), (128, 128, 128)]
    results.forget("numpy")
    assert results.sizes() == [(64, 64, 64)]
    results.want_references(True)
    assert results.sizes() == [(64, 64, 64), (512, 512, 512)]
    results.sizes().clear()  # the list is the caller's
    assert len(results.sizes()) == 2


def test_the_fullest_size_is_looked_for_once_until_a_row_comes_or_goes(session, monkeypatch):
    looked, results = [], session.results
    monkeypatch.setattr(
        "gemmviz.session.models.results.fullest_size", lambda rows: looked.append(1) or fullest_size(rows)
    )
    results.set_references([elsewhere(row("gputiled", 10.0, n=512), row("gpumult1", 9.0, n=512))])
    results.want_references(True)
    assert [results.shown_size() for _ in range(3)] == [(512, 512, 512)] * 3 and len(looked) == 1
    results.references[0].figures.add(row("gputiled", 10.0, n=1024))
    results.references[0].figures.add(row("gpumult1", 9.0, n=1024))
    assert results.shown_size() == (1024, 1024, 1024) and results.sizes()[-1] == (1024, 1024, 1024)
    results.references[0].figures.forget("gpumult1")
    results.want_references(False)
    assert results.shown_size() is None and results.sizes() == []


SINGLE = {"dtype_in": "float32", "dtype_acc": "float32"}


def test_a_transfer_is_kept_and_is_no_rung(session):
    session.results.add_result(row("transfer", None, backend="transfer", gbps=12.0, **SINGLE))
    assert "transfer" not in session.results.rows and session.results.sizes() == []
    assert session.results.figures.transfer((64, 64, 64), "float32", "float32")["gbps"] == 12.0


def test_references_stand_in_where_there_is_no_gpu_and_leave_when_it_is_measured_here(session):
    session.results.set_references([elsewhere(row("gputiled", 5000.0))])
    assert session.results.shown("gputiled", (64, 64, 64)) is None  # the facts of this machine are not known yet
    session.results.set_device("a laptop", None)
    shown = session.results.shown("gputiled", (64, 64, 64))
    assert shown.row["gflops"] == 5000.0
    assert shown.origin == "reference: NVIDIA H200, 2026-11-21"
    session.results.add_result(row("gputiled", 7.0))
    assert session.results.shown("gputiled", (64, 64, 64)).origin == ""


def test_with_nothing_measured_the_size_is_the_largest_that_most_gpu_rungs_have(session):
    rows = [row(name, 10.0, n) for n in (256, 512) for name in ("gputiled", "gpumult1")]
    loops = [row(name, 1.0, 64, backend="c") for name in ("hostmult0", "hostmult1", "hostmult1_opt")]
    session.results.set_references([elsewhere(row("gputiled", 9.0, 1024), *rows, *loops)])
    assert session.results.shown_size() is None  # the facts of this machine are not known yet
    session.results.set_device("a laptop", None)
    assert session.results.shown_size() == (512, 512, 512)
    session.results.add_result(row("hostmult0", 2.0, 128, backend="c"))
    assert session.results.shown_size() == (128, 128, 128)
    session.results.want_size((256, 256, 256))
    session.results.add_result(row("hostmult0", 2.0, 64, backend="c"))
    assert session.results.shown_size() == (256, 256, 256)


def test_a_rung_without_a_figure_at_the_shown_size_has_its_nearest(session):
    session.results.set_references(
        [elsewhere(row("gputiled", 8.0, 256), row("gputiled", 9.0, 4096), row("gpumult1", 5.0, 512))]
    )
    session.results.set_device("a laptop", None)
    session.results.want_size((512, 512, 512))
    assert session.results.shown("gpumult1").row["N"] == 512
    assert session.results.shown("gputiled").row["N"] == 256
    assert session.results.shown("gputiled", (512, 512, 512)) is None
    session.results.add_result(row("gputiled", 1.0, 64))
    assert session.results.shown("gputiled").row["N"] == 64  # sizes measured here come before others


def test_of_the_references_the_default_parameters_are_shown_and_here_the_last_ones(session):
    variants = [row("gputiled", gflops, params={"TS": ts}) for ts, gflops in ((8, 1.0), (16, 2.0), (32, 3.0))]
    session.results.set_references([elsewhere(*variants)])
    session.results.set_device("a laptop", None)
    assert session.results.shown("gputiled").row["params"] == {"TS": 16}
    session.results.add_result(variants[1])
    session.results.add_result(variants[0])
    assert session.results.shown("gputiled").row["params"] == {"TS": 8}


def test_references_are_hidden_beside_a_gpu_until_they_are_wanted(session):
    session.results.set_references([elsewhere(row("gputiled", 5000.0))])
    session.results.set_device("a GPU", {"name": "a GPU"})
    assert session.results.shown("gputiled") is None
    session.results.want_references(True)
    assert session.results.shown("gputiled").row["gflops"] == 5000.0


def test_no_reference_hides_that_a_kernel_is_wrong_here(session):
    session.results.set_device("a laptop", None)
    session.results.set_references([elsewhere(row("gputiled", 5000.0))])
    session.results.add_result(row("gputiled", None, status="wrong"))
    assert session.results.shown("gputiled") is None
    session.results.add_result(row("gputiled", None, status="skipped"))
    assert session.results.shown("gputiled").origin


def test_kernels_that_are_sampled_in_turns_keep_their_samples(session):
    for _ in range(2):
        session.results.add_samples("a", "64", [1.0], 1.0)
        session.results.add_samples("b", "64", [2.0, 2.0], 2.0)
    assert {s.label: len(s.gflops) for s in session.results.all_samples.values()} == {"a": 2, "b": 4}
    assert session.results.samples.label == "b"
    session.results.start_samples()
    assert not session.results.all_samples and not session.results.samples.gflops


def test_a_variant_is_charted_behind_its_rung_once_it_has_a_figure(session):
    names = [k.name for k in session.choice.kernels]
    session.choice.break_it(("no-second-barrier",))
    session.results.keep_variant(session.choice.kernel)
    assert [k.name for k in session.results.charted] == names
    session.results.add_result(row("gputiled~no-second-barrier", 5.0))
    charted = [k.name for k in session.results.charted]
    assert charted[charted.index("gputiled") + 1] == "gputiled~no-second-barrier" and len(charted) == len(names) + 1
    assert "gputiled" not in session.results.rows


def test_figures_of_an_edited_text_go_when_another_text_is_measured(session):
    for value, kept in ((1, 0), (2, 0)):
        session.choice.edit(session.choice.text.replace("float sum = ", f"float sum = {value} + ", 1))
        session.results.keep_variant(session.choice.kernel)
        assert len(session.results.figures.of("gputiled~edited")) == kept
        session.results.add_result(row("gputiled~edited", 5.0, n=64 * value))
    session.choice.renew(parse(session.choice.base.text + "// more\n", session.choice.base.path))
    assert not session.results.figures.of("gputiled~edited") and len(session.results.charted) == len(
        session.choice.kernels
    )


def test_figures_of_another_device_stand_beside_those_of_this_machine(session):
    results = session.results
    results.set_device("Some CPU", None, 2)
    results.add_result(row("gputiled", 10.0))
    results.move("GPU-1", "lab")
    assert (results.away, results.device, len(results.figures)) == ("lab", "", 0)
    (here,) = results.elsewhere
    assert here.cpu == "Some CPU" and here.figures.of("gputiled")[0]["gflops"] == 10.0 and here.host
    results.want_references(False)
    # Measured in this session: it is shown even when references are not.
    shown = results.shown("gputiled", (64, 64, 64))
    assert shown.row["gflops"] == 10.0 and shown.origin.startswith("measured: ")
    results.set_device("NVIDIA H200 / Xeon (16 cores)", {"name": "NVIDIA H200", "cc": "9.0", "sms": 132}, 16)
    results.add_result(row("gputiled", 90.0))
    shown = results.shown("gputiled", (64, 64, 64))
    assert (shown.row["gflops"], shown.origin) == (90.0, "")
    # Back again: each place has its own figures.
    results.move("", "here")
    assert results.away == "" and results.shown("gputiled", (64, 64, 64)).row["gflops"] == 10.0
    (there,) = results.elsewhere
    assert there.origin(row("gputiled", 1.0)).startswith("measured: NVIDIA H200 (lab), ")
    assert there.origin(row("numpy", 1.0, backend="numpy")).startswith("measured: Xeon (16 cores) (lab), ")
    # Its names stay known if it is left before it has answered again.
    results.move("GPU-1", "lab")
    results.move("", "here")
    assert results.elsewhere[0].gpu == "NVIDIA H200"
