"""One utilization under other FLOP conventions: translated into one, or beside all of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, overload

import pandas as pd

from stepviz.errors import ThroughputError
from stepviz.throughput.checks import real
from stepviz.throughput.flop_conventions import CONVENTIONS, flops_per_token, known_convention
from stepviz.throughput.model_shapes import ModelShape
from stepviz.throughput.rates import Rate
from stepviz.throughput.sequence_lengths import length_under, plain_sequence, whole_row
from stepviz.throughput.utilization import Mfu, mfu


@overload
def translate(
    utilization: Mfu,
    from_: str,
    to: str,
    *,
    shape: ModelShape | None = None,
    sequence: Any = None,
) -> Mfu: ...


@overload
def translate(
    utilization: float,
    from_: str,
    to: str,
    *,
    shape: ModelShape | None = None,
    sequence: Any = None,
) -> float: ...


def translate(
    utilization: Mfu | float,
    from_: str,
    to: str,
    *,
    shape: ModelShape | None = None,
    sequence: Any = None,
) -> Mfu | float:
    """Return the same step's utilization under another convention.

    Parameters
    ----------
    utilization : Mfu or float
        A result of `mfu`, or a reported fraction.
    from_, to : str
        Ids of `conventions`.
    shape, sequence : optional
        What the reported fraction was computed for; a result of `mfu` knows them. Of segments,
        all conventions but `packed` use the whole row.

    Returns
    -------
    Mfu, or float where a fraction was given
        To and fro gives back the value that was given.

    Raises
    ------
    ThroughputError
        Where `from_` is not the convention of the result, or what it was computed for is unknown.

    Examples
    --------
    >>> llama = ModelShape(
    ...     layers=32, hidden=4096, heads=32, kv_heads=8, ffn=14336, gated=True, vocab=128256
    ... )
    >>> round(translate(0.5056, "palm", "causal", shape=llama, sequence=8192), 4)
    0.4261
    """
    known_convention(from_)
    known_convention(to)
    if isinstance(utilization, Mfu):
        if utilization.convention != from_:
            msg = (
                f"this utilization is under {utilization.convention!r}, not {from_!r}: give "
                f"from_={utilization.convention!r}"
            )
            raise ThroughputError(msg)
        segments = utilization.sequence if sequence is None else plain_sequence(sequence)
        found = mfu(
            utilization.shape if shape is None else shape,
            convention=to,
            tokens_per_second=Rate(utilization.tokens_per_second, 1.0, utilization.of, "run"),
            sequence=length_under(to, segments),
            peak=utilization.peak or utilization.peak_flops,
            devices=utilization.devices,
        )
        return replace(found, sequence=segments)  # so that the way back knows them
    if shape is None:
        msg = (
            "a bare fraction does not know its model: give shape= and sequence=, or the result of "
            "mfu()"
        )
        raise ThroughputError(msg)
    value = real(utilization, "the utilization", least=0)
    if from_ == to:
        return value
    segments = plain_sequence(sequence)
    before, after = (
        float(flops_per_token(shape, name, length_under(name, segments))) for name in (from_, to)
    )
    return value * after / before


def mfu_table(
    shape: ModelShape,
    *,
    tokens_per_second: Any,
    peak: Any,
    sequence: Any,
    devices: int = 1,
) -> pd.DataFrame:
    """Return one step under every convention, the least first.

    Parameters
    ----------
    shape, tokens_per_second, peak, sequence, devices
        As for `mfu`; where lengths of segments are given, all but `packed` use the whole row.

    Returns
    -------
    DataFrame
        Indexed by convention: `mfu` (a fraction), `flops_per_token`, `kind` (MFU or HFU),
        `formula`, `includes`, `guards`.

    Examples
    --------
    >>> import stepviz as sv
    >>> llama = sv.ModelShape(
    ...     layers=32, hidden=4096, heads=32, kv_heads=8, ffn=14336, gated=True, vocab=128256
    ... )
    >>> table = mfu_table(
    ...     llama, tokens_per_second=8192, sequence=8192, peak=sv.peak("H100 SXM", "bf16")
    ... )
    >>> (100 * table.loc[["6N_all", "causal", "palm"], "mfu"]).round(2).tolist()
    [39.89, 42.62, 50.56]
    """
    segments = plain_sequence(sequence)
    row = whole_row(segments)
    found = [
        mfu(
            shape,
            convention=name,
            tokens_per_second=tokens_per_second,
            sequence=segments if name == "packed" else row,
            peak=peak,
            devices=devices,
        )
        for name in CONVENTIONS
    ]
    found.sort(key=lambda one: one.value)
    return pd.DataFrame(
        {
            "mfu": [one.value for one in found],
            "flops_per_token": [one.flops_per_token for one in found],
            "kind": [one.kind for one in found],
            "formula": [CONVENTIONS[one.convention].formula for one in found],
            "includes": [CONVENTIONS[one.convention].includes for one in found],
            "guards": ["; ".join(one.guards) for one in found],
        },
        index=pd.Index([one.convention for one in found], name="convention"),
    )
