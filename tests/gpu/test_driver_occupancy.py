"""The modelled occupancy equals the driver's, for every kernel of the ladder with every offered parameter."""

import pytest

from gemmviz.backends.driver import driver
from gemmviz.bench.model.devices import find, limits, memory_gbs
from gemmviz.bench.model.occupancy import Use, occupancy
from gemmviz.catalogue.errors import ConstraintError
from gemmviz.catalogue.ladder import ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem

pytestmark = pytest.mark.gpu
SIZE = Problem.cube(256)


def launches():
    found = {}
    for kernel in ladder():
        if kernel.backend != "cuda" or kernel.exhibit:
            continue
        chosen = [{}, *({name: value} for name, values in kernel.params.items() for value in values)]
        for params in chosen:
            try:
                one = launch(kernel, SIZE, params)
            except ConstraintError:
                continue
            found[kernel.name, one.label] = one
    return list(found.values())


@pytest.mark.parametrize("one", launches(), ids=lambda one: f"{one.kernel.name}-{one.label}")
def test_active_blocks_are_those_of_the_driver(one):
    from gemmviz.backends.cuda import cupy
    from gemmviz.backends.nvrtc import compile_launch, has_mma_header

    if "mma.h" in one.kernel.text and not has_mma_header():
        pytest.skip("mma.h is not installed: pip install 'gemmviz[cuda13]'")
    cp = cupy()
    function, _, build = compile_launch(cp, one)
    if build.shared_bytes > 48 * 1024:
        function.max_dynamic_shared_size_bytes = one.shared_bytes
    asked = cp.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor(function.kernel.ptr, one.threads, one.shared_bytes)
    # The number is read from the machine code, which is kept for all of these.
    assert build.barriers is not None
    use = Use(one.threads, build.registers, build.shared_bytes, barriers=build.barriers or 0)
    assert occupancy(use, limits(driver().device.to_plain())).blocks == asked


def test_the_driver_s_limits_are_the_published_ones():
    device = driver().device.to_plain()
    published = limits({"cc": device["cc"]})
    if published is None:
        pytest.skip(f"compute capability {device['cc']} is not in resources/devices.toml")
    assert limits(device) == published


def test_the_bus_gives_about_the_published_bandwidth():
    device = driver().device.to_plain()
    known = find(device)
    if known is None:
        pytest.skip(f"{device['name']} is not in resources/devices.toml")
    assert memory_gbs(device | {"name": ""}) == pytest.approx(known.bandwidth_gbs, rel=0.05)
    assert device["clock_mhz"] == pytest.approx(known.boost_mhz, rel=0.05)
