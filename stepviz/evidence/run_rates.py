"""What a measured run achieved: positions, targets, updates and wall time side by side, and MFU."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import pandas as pd

from stepviz.errors import ThroughputError, TraceError
from stepviz.evidence.measured import measured
from stepviz.evidence.records import counts_of, parameters_of, records
from stepviz.throughput.checks import real, whole
from stepviz.throughput.figures import card, number_text, percent
from stepviz.throughput.flop_conventions import CONVENTIONS
from stepviz.throughput.model_shapes import ModelShape
from stepviz.throughput.peak_catalogue import Peak, roof_of
from stepviz.throughput.sequence_lengths import NO_LENGTH
from stepviz.throughput.side_by_side import throughput_table
from stepviz.throughput.token_counts import TokenCounts
from stepviz.throughput.utilization import Mfu, mfu
from stepviz.traces import Run

_BYTES: Final = {"float32": 4, "float64": 8, "bfloat16": 2, "float16": 2}


@dataclass(frozen=True, eq=False, repr=False)
class RunThroughput:
    """What a run achieved, all of it of the same updates and their wall time.

    Attributes
    ----------
    counts : TokenCounts
        Of all ranks, over the measured updates, with their seconds; only updates where the run
        does not say what a batch held.
    table : DataFrame
        Indexed by quantity: `value`, `unit`, `counts` (what exactly that is): rates, the time of
        an update, the wall time, the updates, and a utilization for each convention.
    mfu : dict
        Utilization by convention; empty where the model or the peak is not known.
    notes : tuple of str
        Which updates, and why something is missing.
    """

    counts: TokenCounts
    table: pd.DataFrame
    mfu: Mapping[str, Mfu]
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        known = [
            f"{number_text(self.table.loc[name, 'value'])} {self.table.loc[name, 'unit']}"
            for name in self.table.index
            if "per second" in str(name)
        ]
        used = [repr(one) for one in list(self.mfu.values())[:1]]
        return f"<RunThroughput: {', '.join([*known, *used])}>"

    def _repr_html_(self) -> str:
        rows = [
            (
                f"{name}, {row['unit']}" if row["unit"] != "of peak" else str(name),
                percent(row["value"]) if row["unit"] == "of peak" else number_text(row["value"]),
            )
            for name, row in self.table.iterrows()
        ]
        return card("Throughput", rows, self.notes)


def run_throughput(
    run: Run,
    *,
    counts: TokenCounts | None = None,
    shape: Any = None,
    peak: Any = None,
    convention: str | None = None,
    devices: int | None = None,
) -> RunThroughput:
    """Return a run's throughput under every name, from one set of updates and their wall time.

    Parameters
    ----------
    run : Run
        Captures of stepviz say tokens, model and device; others need them given.
    counts : TokenCounts, optional
        What an update of all ranks holds, where the run does not say.
    shape : ModelShape, or a number of parameters for `6N_all`, optional
        The model, where the run does not say or says it wrongly.
    peak : Peak or float, optional
        Of one device.
    convention : str, optional
        The FLOP convention of the utilization; all that can be told unless given.
    devices : int, optional
        That share the work; one for each rank unless given.

    Returns
    -------
    RunThroughput

    Raises
    ------
    ThroughputError
        Where a convention is named that can't be told, with the reason.

    Examples
    --------
    A run that does not say its tokens has only updates:

    >>> found = run_throughput(sv.sample_run())
    >>> found.table.index.tolist()
    ['updates per second', 'time per update', 'wall time', 'updates']
    >>> found.counts.updates
    3
    """
    if not isinstance(run, Run):
        msg = f"run is {type(run).__name__}: give a run, as load_run or sv.capture returns it"
        raise TraceError(msg)
    found = measured(run)
    lengths = np.concatenate(found.steps)
    timed = f"{len(lengths)} updates " + (
        "timed without profiler" if found.bare else "of the trace, with what the profiler costs"
    )
    notes = [f"wall time: {timed}"]
    each = counts_of(run) if counts is None else counts
    if each is not None and not isinstance(each, TokenCounts):
        msg = f"counts is {each!r}: give the TokenCounts of an update of all ranks"
        raise ThroughputError(msg)
    if each is not None and each.scope != "update":
        msg = f"counts is of a {each.scope}: count an update of all ranks"
        raise ThroughputError(msg)
    if each is None:
        notes.append("tokens: the run does not say what a batch held; give counts=")
        each = TokenCounts(scope="update")
    total = _times(each, len(lengths), float(lengths.sum()) / 1e3)
    several = len(run.ranks) if devices is None else whole(devices, "devices", least=1)
    model = _shape(run) if shape is None else _model(shape)
    length = _length(run)
    roof = _peak(run) if peak is None else peak
    if peak is not None:
        roof_of(peak)
    for what, missing in (("model", model), ("peak", roof)):
        if missing is None:
            notes.append(f"MFU: the run does not say its {what}{_why(run, what)}")
    used: dict[str, Mfu] = {}
    if model is not None and roof is not None and total.executed is not None:
        used, why_not = _used(total, model, roof, length, several, convention)
        notes += why_not
    elif convention is not None:
        msg = f"MFU ({convention}) can't be told: {'; '.join(notes[1:])}"
        raise ThroughputError(msg)
    table = throughput_table(total)
    more = [
        ("wall time", total.seconds, "s", timed),
        ("updates", total.updates, "", "optimizer steps in that time"),
        *(
            (f"{one.kind} ({name})", one.value, "of peak", CONVENTIONS[name].includes)
            for name, one in used.items()
        ),
    ]
    rest = pd.DataFrame(more, columns=["quantity", *table.columns]).set_index("quantity")
    return RunThroughput(total, pd.concat([table, rest]), used, tuple(notes))


def _times(each: TokenCounts, updates: int, seconds: float) -> TokenCounts:
    """Return counts of so many such updates in a row."""
    named = ("allocated", "real", "executed", "scored", "sequences", "squared_lengths")
    values = {name: getattr(each, name) for name in named}
    many = {name: None if one is None else one * updates for name, one in values.items()}
    return replace(each, **many, updates=updates, microbatches=None, scope="run", seconds=seconds)  # type: ignore[arg-type]  # ints by name


def _used(
    total: TokenCounts, model: Any, roof: Any, length: int | None, devices: int, asked: str | None
) -> tuple[dict[str, Mfu], list[str]]:
    """Return the utilization by convention, and why some conventions have none."""
    found: dict[str, Mfu] = {}
    missing: dict[str, list[str]] = {}
    for name in CONVENTIONS if asked is None else (asked,):
        sequence: Any = length
        if name == "packed" and total.mean_length is not None:
            sequence = total
        try:
            if sequence is None and name not in NO_LENGTH:
                msg = "it needs the length of a sequence, which the run does not say"
                raise ThroughputError(msg)  # noqa: TRY301  # one place says what can't be told
            found[name] = mfu(
                model,
                convention=name,
                tokens_per_second=total.rate("executed"),
                sequence=sequence,
                peak=roof,
                devices=devices,
            )
        except ThroughputError as error:
            if asked is not None:
                raise
            missing.setdefault(str(error), []).append(name)
    return found, [f"no MFU under {', '.join(names)}: {why}" for why, names in missing.items()]


def _model(shape: Any) -> Any:
    """Return a model that the user gave, once it is clear that it can be one."""
    return shape if isinstance(shape, ModelShape) else real(shape, "shape", above=0)


def _shape(run: Run) -> Any:
    """Return the model that the run says: its shape, else its number of parameters."""
    count = _parameters(run)
    for record in records(run).values():
        said = record.get("model")
        if isinstance(said, Mapping) and all(k in said for k in ("layers", "width", "heads")):
            try:
                return ModelShape(
                    layers=said["layers"],
                    hidden=said["width"],
                    heads=said["heads"],
                    vocab=said["vocabulary"],
                    stated_parameters=count,
                )
            except (ThroughputError, KeyError):
                return count
    return count


def _parameters(run: Run) -> int | None:
    try:
        frame = parameters_of(run)
    except ValueError:
        return None
    if "dtype" not in frame.columns or not frame["dtype"].isin(list(_BYTES)).all():
        return None
    sizes = frame["bytes"] / frame["dtype"].map(_BYTES)
    return int(sizes.sum())


def _length(run: Run) -> int | None:
    for record in records(run).values():
        for place in (record.get("model"), record.get("config"), record):
            if isinstance(place, Mapping) and isinstance(place.get("sequence"), int):
                return int(place["sequence"])
    return None


def _peak(run: Run) -> Peak | float | None:
    for record in records(run).values():
        said = record.get("device")
        flops = said.get("peak_flops") if isinstance(said, Mapping) else None
        if isinstance(flops, int | float) and flops > 0:
            return roof_of(float(flops))
    return None


def _why(run: Run, what: str) -> str:
    said = next(iter(records(run).values())).get("device")
    why = said.get("peak_why") if what == "peak" and isinstance(said, Mapping) else None
    return (
        f" ({why}); give {what if what == 'peak' else 'shape'}="
        if why
        else (f"; give {'peak' if what == 'peak' else 'shape'}=")
    )
