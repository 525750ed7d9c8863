"""Figures in words: GFLOPS, the outcome of a measurement, and all figures of a row."""

from math import isfinite
from statistics import median

from gemmviz.bench.figures import Shown, size_of
from gemmviz.bench.ranking import LIBRARIES, Standing, place
from gemmviz.bench.row import Row, Telemetry, figure_of
from gemmviz.bench.status_names import bound_text, status_name
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.own_name import own_name, told_apart
from gemmviz.catalogue.titles import title_text
from gemmviz.language import percent as percentage
from gemmviz.language import tr
from gemmviz.language.numbers import thousands
from gemmviz.session import Session
from gemmviz.session.models.results import Results
from gemmviz.session.values import kernel_names

_DTYPES = {"float32": "FP32", "float16": "FP16", "float64": "FP64", "int32": "INT32", "bfloat16": "BF16"}
_DTYPES |= {"int8": "INT8", "uint8": "UINT8", "int64": "INT64", "float8_e4m3fn": "FP8 E4M3", "float8_e5m2": "FP8 E5M2"}
_MARKS = "(R)", "(TM)", " Processor"  # in the names of processors: they take room and tell nothing
BETWEEN = "  ·  "


def gflops_text(value: float) -> str:
    """Write GFLOPS with at most 4 significant digits and thin thousands."""
    if value >= 1000:
        digits = len(str(int(value)))
        return thousands(float(round(value, 4 - digits)))
    return f"{value:.4g}" if value >= 100 else f"{value:.3g}"


def percent(share: float | None) -> str:
    """Write a share as a percentage; a dash for none."""
    if share is None:
        return "–"
    if share < 0.001:
        return f"<{percentage(0.001, 1)}"
    return percentage(share, 0 if share >= 0.1 else 1)


def times(ratio: float) -> str:
    """Write how many times as fast something is: at most three digits, thin thousands."""
    if not isfinite(ratio):
        return "∞×"
    return f"{gflops_text(round(ratio))}×" if ratio >= 100 else f"{ratio:.3g}×"


def size_text(size: tuple[int, int, int]) -> str:
    """Write M × N × K."""
    return " × ".join(map(str, size))


def short_size(size: tuple[int, int, int]) -> str:
    """Write M × N × K, or N³ where all three are the same."""
    return f"{size[1]}³" if len(set(size)) == 1 else size_text(size)


def dtype_text(dtype: str) -> str:
    """Write an element type as the field does: FP32."""
    return _DTYPES.get(dtype, dtype)


def shown_name(kernel: Kernel, session: Session) -> str:
    """Return a kernel's alias; its file's name where two kernels share the alias; a library's title.

    Of two of the user's files with one name, each has its folder.

    Of a variant, that of its rung and its change: "gputiled without the second barrier".
    """
    if kernel.backend in LIBRARIES:
        return title_text(kernel)
    if kernel.changes:
        base = next((k for k in session.choice.kernels if k.name == kernel.base_name), None)
        rung = shown_name(base, session) if base else kernel.base_name
        return tr("{rung} {changes}", rung=rung, changes=changes_text(kernel))
    choice = session.choice
    if not choice.is_shipped_file(kernel) and kernel.name == kernel.alias:
        others = {k.name for k in choice.kernels if k.path != kernel.path and k.path.name == kernel.path.name}
        if others:
            taken = others | {own_name(kernel.path)}
            return own_name(kernel.path, kernel.folders or told_apart(kernel.path, taken.__contains__))
    shared = sum(k.alias == kernel.alias for k in choice.kernels) > 1
    return kernel.name if shared else kernel.alias


def changes_text(kernel: Kernel) -> str:
    """Describe the change of a variant: "without the second barrier, with the loop over k unrolled"."""
    return ", ".join(kernel_names.changes(kernel))


def of_base_text(standing: Standing) -> str:
    """Return the cost or gain of a variant over its rung in words; the status where it failed; or empty."""
    if not standing.gflops:
        return f"✗ {status_name(standing.row['status'])}"
    ratio = standing.of_base
    if ratio is None:
        return "–"
    if ratio < 1:
        return tr("costs {times}", times=times(1 / ratio))
    return tr("gains {times}", times=times(ratio))


def rung_text(kernel: Kernel, row: Row, session: Session) -> str:
    """Return a rung's name with the values of its parameters; on the CPU only those that are not its defaults.

    Parameters that follow from the size are left out: there are many, and nobody chose them.
    """
    params = (row.get("params") or {}) if kernel.schedule is None else {}
    if kernel.backend == "c":
        values = [f"{name}={value}" for name, value in params.items() if value != kernel.defaults.get(name)]
    else:
        values = [str(value) for value in params.values()]
    return f"{shown_name(kernel, session)} {','.join(values)}".rstrip()


def status_text(row: Row | None) -> str:
    """Return the outcome of a kernel's measurement in words."""
    if row is None:
        return tr("not measured yet")
    if row["status"] == "ok":
        size = size_text((row["M"], row["N"], row["K"]))
        figure = tr("{gflops} GFLOPS at {size}", gflops=gflops_text(figure_of(row)), size=size)
        return ", ".join([figure, *row.get("flags", ())])
    if row.get("exhibit") and row["status"] in ("wrong", "compile"):
        return str(row.get("message", ""))
    return f"{status_name(row['status'])}: {row.get('message', '')}".rstrip(": ")


def origin_text(shown: Shown, session: Session) -> str:
    """Say where a figure comes from."""
    if shown.origin:
        return origin_name(shown.origin)
    return measured_text(session.results)


def measured_text(results: Results) -> str:
    """Say that a figure was measured in this session, and on which device."""
    if results.away:
        return tr("measured: {device}", device=results.device_and_host)
    return tr("measured here, {device}", device=results.device or tr("this machine"))


def measured_briefly(results: Results) -> str:
    """Say that a figure was measured in this session, in a few words."""
    return tr("measured on {host}", host=results.away) if results.away else tr("measured here")


def origin_name(origin: str) -> str:
    """Return the label of a reference, as `ReferenceResults.origin` gives it, in the language that is spoken.

    The marks in a processor's name are left out. Any other text stays as it is.
    """
    kind, _, device = origin.partition(": ")
    for mark in _MARKS:
        device = device.replace(mark, "")
    if kind == "measured":
        return tr("measured: {device}", device=device)
    return tr("reference: {device}", device=device) if kind == "reference" else origin


def details(row: Row) -> list[str]:
    """Return all details of a row's figure, a line for each kind."""
    stats, hot, telemetry = row.get("stats"), row.get("hot"), row.get("telemetry")
    gflops = gflops_text(figure_of(row))
    if stats:
        median_text = tr(
            "{gflops} GFLOPS, cold median of {n} samples ({time}), IQR {iqr}",
            gflops=gflops,
            n=stats["n"],
            time=_seconds(stats["median"]),
            iqr=percentage(stats["iqr_rel"], 1),
        )
    else:
        median_text = tr("{gflops} GFLOPS, cold median", gflops=gflops)
    lines = [median_text]
    if hot:
        hot_text = gflops_text(hot["gflops"])
        lines.append(tr("hot {gflops} GFLOPS, in batches of {count}", gflops=hot_text, count=hot["batch"]))
    launches = [
        (tr("host launch {time}"), row.get("host_launch_s")),
        (tr("first launch {time}"), row.get("first_launch_s")),
    ]
    lines.append(BETWEEN.join(text.format(time=_seconds(time)) for text, time in launches if time))
    rounds = row.get("rounds") or ()
    if rounds:
        lines.append(tr("rounds {figures} GFLOPS", figures=", ".join(gflops_text(r["gflops"]) for r in rounds)))
    launch = [(tr("grid {extent}"), row.get("grid")), (tr("block {extent}"), row.get("block"))]
    lines.append(BETWEEN.join(text.format(extent=_extent(extent)) for text, extent in launch if extent))
    build = [
        (row.get("regs"), tr("{count} registers per thread")),
        (row.get("smem"), tr("{count} B of shared memory per block")),
        (row.get("local_bytes"), tr("{count} B of local memory per thread")),
    ]
    lines.append(BETWEEN.join(text.format(count=value) for value, text in build if value))
    if telemetry:
        lines.append(telemetry_text(telemetry))
    lines.append(bound_text(row))
    lines += [f"⚑ {flag}" for flag in row.get("flags") or ()]
    return [line for line in lines if line]


def telemetry_text(telemetry: Telemetry) -> str:
    """Return clock, power and temperature (medians), energy and the reasons for throttling."""
    watched = ((telemetry.get("sm_mhz"), "MHz"), (telemetry.get("power_w"), "W"), (telemetry.get("temp_c"), "°C"))
    parts = [f"{median(seen):.4g} {unit}" for seen, unit in watched if seen]
    if energy_j := telemetry.get("energy_j"):
        parts.append(f"{gflops_text(energy_j)} J")
    if telemetry.get("throttle"):
        parts.append(tr("throttled: {reasons}", reasons=", ".join(telemetry["throttle"])))
    return BETWEEN.join(parts)


def standing_text(standing: Standing, session: Session) -> str:
    """Return all figures of one rung: the chart's text for the rung under the pointer."""
    kernel, row = standing.kernel, standing.row
    if not standing.gflops:
        return f"{row.get('label') or kernel.name}: {title_text(kernel)}, {changes_text(kernel)}\n{status_text(row)}"
    types = dict.fromkeys(map(dtype_text, (kernel.dtype, kernel.accumulate, kernel.dtype_out)))
    if standing.speedup is None:
        alone = tr("the kernel itself is not measured with these")
        against = alone if standing.of_base is None else of_base_text(standing)
        ranks = [tr("{changes}: {against}, never ranked", changes=changes_text(kernel), against=against)]
    else:
        ranks = [tr("{times} the first kernel of the {place}", times=times(standing.speedup), place=place(kernel))]
    if standing.share is not None and standing.library_gflops is not None:
        named = {"share": percent(standing.share), "library": tr(standing.library)}
        of = gflops_text(standing.library_gflops)
        if "library_gflops" in row:
            ranks.append(tr("{share} of {library} ({gflops} GFLOPS in the same run)", gflops=of, **named))
        else:  # each result of this machine is the newest one: the library's may be of another run
            ranks.append(tr("{share} of {library} ({gflops} GFLOPS)", gflops=of, **named))
    if standing.peak_share is not None:
        share, kind = percent(standing.peak_share), row.get("peak_kind")
        with_kind = tr("{share} of the peak ({kind}, modelled)", share=share, kind=kind)
        ranks.append(with_kind if kind else tr("{share} of the peak (modelled)", share=share))
    copies = session.results.figures.transfer(size_of(row), kernel.dtype, kernel.dtype_out)
    trip = copies["transfer"] if copies is not None else None
    if trip is not None and not standing.origin and place(kernel) == "GPU":
        there, back = _seconds(trip["to_device_s"]), _seconds(trip["to_host_s"])
        ranks.append(tr("copies apart: {there} to the device, {back} back", there=there, back=back))
    return "\n".join(
        [
            f"{row.get('label') or shown_name(kernel, session)}: {title_text(kernel)}",
            origin_text(Shown(row, standing.origin), session),
            f"{size_text((row['M'], row['N'], row['K']))}, {' + '.join(types)}",
            *details(row),
            BETWEEN.join(ranks),
        ]
    )


def _extent(extent: list[int]) -> str:
    """Write the extent of a grid or block, without dimensions of 1 at its end."""
    x, y, z = extent
    return size_text((x, y, z)) if z > 1 else f"{x} × {y}" if y > 1 else str(x)


def _seconds(value: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value * 1e9:.3g} ns"
