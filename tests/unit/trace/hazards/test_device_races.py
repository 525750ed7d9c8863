"""Races between GPUs: the queue of each rung has none, and a wait or a place that is wrong is found with both lines."""

from dataclasses import replace

import pytest
from demo_recordings import at_demo

from gemmviz.catalogue.division import Panel
from gemmviz.catalogue.matrices import A
from gemmviz.catalogue.queue import Queue, queue
from gemmviz.trace.hazards import Finding, defects
from gemmviz.trace.hazards.device_races import device_races
from gemmviz.trace.recording.recording import Recording


def of(recording: Recording, wrong: Queue | None = None) -> list[Finding]:
    assert recording.sharing is not None
    return list(device_races(recording, wrong or queue(recording.sharing.devices, recording.sharing.crossing)))


def both_lines(recording: Recording, found: Finding) -> tuple[str, str]:
    lines = recording.text.splitlines()
    return lines[found.line - 1], lines[found.other_line - 1]


def without_wait(right: Queue, panel: Panel) -> Queue:
    return replace(right, products=tuple(replace(p, waits=()) if p.panel == panel else p for p in right.products))


@pytest.mark.parametrize("name", ["whole_a", "gather", "panels", "peer_tiles", "fused_panels"])
def test_the_queue_of_a_rung_has_no_race(name: str) -> None:
    assert of(at_demo(name).recording) == []


@pytest.mark.parametrize("name", ["gather", "panels"])
def test_a_missing_wait_is_a_race_of_the_product_and_the_copy(name: str) -> None:
    recording = at_demo(name).recording
    right = queue(2, "before" if name == "gather" else "meanwhile")
    (found,) = of(recording, without_wait(right, Panel(0, 1 if name == "panels" else 0)))
    assert (found.kind, found.array, found.count) == ("race", "A", recording.m // 2 * recording.k)
    product, copy = both_lines(recording, found)
    assert "tma_load" in product and copy.startswith("// crossing")
    assert found.text.startswith("GPU 0 reads row 64 of A (line ")
    assert "while the copy of the rows of GPU 1 writes it" in found.text


@pytest.mark.parametrize("name", ["gather", "panels"])
def test_a_wrong_place_overwrites_rows_in_use_and_leaves_others_without_a_copy(name: str) -> None:
    recording = at_demo(name).recording
    right = queue(2, "before" if name == "gather" else "meanwhile")
    wrong = tuple(replace(copy, place=copy.to) if copy.to == 0 else copy for copy in right.copies)
    waits = dict(zip(right.copies, wrong, strict=True))
    products = tuple(replace(p, waits=tuple(waits[copy] for copy in p.waits)) for p in right.products)
    found = of(recording, Queue(wrong, products))
    assert all(both_lines(recording, one)[1].startswith("// crossing") for one in found)
    (missing,) = (one for one in found if one.kind == "read of memory nobody wrote")
    assert "GPU 0 reads row 64 of A" in missing.text and "no copy" in missing.text
    # The rows of GPU 0 are sent while they are overwritten; the product of panels reads them at the same time, too.
    races = [one.text for one in found if one.kind == "race"]
    assert any("a copy of the rows of GPU 0 and one of GPU 1 access the same rows" in text for text in races)
    assert any("GPU 0 reads row 0 of A" in text for text in races) == (name == "panels")


def test_a_copy_that_nothing_waits_for_reaches_into_the_next_product() -> None:
    recording, right = at_demo("gather").recording, queue(2, "before")
    found = of(recording, replace(right, products=tuple(replace(p, waits=()) for p in right.products)))
    assert [one.kind for one in found] == ["race"]
    assert found[0].count == recording.m * recording.k


def test_the_order_of_four_gpus_is_free_of_races_and_each_wait_is_needed() -> None:
    right = queue(4, "meanwhile")
    assert len(right.copies) == 12 and len(right.products) == 16
    for product in right.products:
        assert [(c.owner, c.to) for c in product.waits] == (
            [] if product.panel.device == product.panel.owner else [(product.panel.owner, product.panel.device)]
        )


def test_a_launch_that_changes_its_own_rows_races_with_their_copy() -> None:
    recording = at_demo("panels").recording
    log = recording.accesses
    changes = (log.array == A) & (log.element < recording.k)  # row 0, which GPU 0 owns
    log = replace(log, write=log.write | changes)
    texts = [found.text for found in of(replace(recording, accesses=log))]
    assert any(text.startswith("GPU 0 writes row 0 of A (line ") and "GPU 0 accesses it" in text for text in texts)


def test_the_checker_looks_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    recording, wrong = at_demo("panels").recording, without_wait(queue(2, "meanwhile"), Panel(1, 0))
    monkeypatch.setattr(defects, "queue", lambda devices, crossing: wrong)
    (found,) = defects.find(recording)
    assert found.kind == "race" and found.text.startswith("GPU 1 reads row 0 of A")
