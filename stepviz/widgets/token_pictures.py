"""What the token comparison shows: a case's numbers as text, its masks as runs, its words."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Final

import pandas as pd

from stepviz.throughput.figures import number_text, percent
from stepviz.throughput.layouts import token_roles
from stepviz.throughput.loss_reductions import loss_denominators
from stepviz.throughput.packing_cases import PackingCase, role_runs
from stepviz.throughput.rates import NUMERATORS

#: The numbers that are shown large, and what they are called there.
_LARGE: Final = {
    "processed positions per second": "Processed positions / s",
    "scored targets per second": "Scored targets / s",
    "updates per second": "Updates / s",
    "time per update": "Time per update",
    "MFU (packed)": "MFU (packed)",
}
#: What the sentences begin with that are said first.
_HEADLINES: Final = ("Processed positions per second: ", "Scored targets per second: ")
_ACROSS: Final = (
    "Conventions that count attention over a whole row count keys beyond a sequence's boundary "
    "once it is packed, which its mask leaves out; only “packed” does not."
)
_COUNTED: Final = {
    "processed positions per second": NUMERATORS["allocated"][1],
    "real positions per second": NUMERATORS["real"][1],
    "executed positions per second": NUMERATORS["executed"][1],
    "scored targets per second": NUMERATORS["scored"][1],
    "sequences per second": NUMERATORS["sequences"][1],
    "updates per second": NUMERATORS["updates"][1],
    "time per update": "wall time ÷ updates",
}


def case_table(case: PackingCase, shape: Any, peak: Any, devices: int) -> pd.DataFrame:
    """Return every rate and every utilization of a case.

    Returns
    -------
    DataFrame
        Indexed by quantity: `before`, `after`, `ratio`, `unit`, `change`, `counts`.
    """
    rates = case.compared().table
    rates = rates.assign(counts=[_COUNTED[str(name)] for name in rates.index])
    parts = [rates[["before", "after", "ratio", "unit", "change", "counts"]]]
    if shape is not None and peak is not None:
        found = case.utilizations(shape, peak, devices=devices)
        guarded = [
            f"{row['includes']}{'; ' if row['guards'] else ''}{row['guards']}"
            for _, row in found.iterrows()
        ]
        names = [f"{row['kind']} ({name})" for name, row in found.iterrows()]
        parts.append(
            pd.DataFrame(
                {
                    "before": found["before"].to_numpy(),
                    "after": found["after"].to_numpy(),
                    "ratio": found["ratio"].to_numpy(),
                    "unit": "of peak",
                    "change": found["change"].to_numpy(),
                    "counts": guarded,
                },
                index=pd.Index(names, name="quantity"),
            )
        )
    return pd.concat(parts)


def case_picture(
    case: PackingCase, table: pd.DataFrame, names: tuple[str, str], pad_id: int | None
) -> dict[str, Any]:
    """Return a case as plain data for the page."""
    compared = case.compared()
    rows = [_row(str(name), row) for name, row in table.iterrows()]
    large = [
        {**row, "label": _LARGE[row["name"]], "ratioText": f"× {number_text(row['ratio'])}"}
        for row in rows
        if row["name"] in _LARGE and row["ratio"] is not None
    ]
    trap = case.trap()
    return {
        "headline": " ".join(w for w in compared.words if w.startswith(_HEADLINES)),
        "large": large,
        "rows": rows,
        "sides": [
            _side(name, batch, counts, width, case.accumulation, pad)
            for name, batch, counts, width, pad in zip(
                names,
                (case.before, case.after),
                case.counts,
                case.widths,
                (pad_id, pad_id if case.after is case.before else None),
                strict=True,
            )
        ],
        "facts": [
            {"text": text, "change": change}
            for text, change in zip(compared.words, compared.table["change"], strict=False)
        ],
        "notes": [*compared.words[len(compared.table) :], *([_ACROSS] if _packs(case) else [])],
        "trap": f"The trap: {trap}." if trap else "",
        "spoken": " ".join(_spoken(large)),
    }


def losses_picture(losses: Any) -> dict[str, Any]:
    """Return token losses by rank and microbatch, under every denominator, as plain data."""
    table = loss_denominators(losses)
    rows = []
    for name, row in table.iterrows():
        whose = "" if pd.isna(row["rank"]) else f" {int(row['rank'])}"
        quotient = ""
        if not pd.isna(row["denominator"]):
            quotient = f"{number_text(row['total'])} ÷ {int(row['denominator']):,}"
        rows.append(
            {
                "name": str(name).replace("rank,", f"rank{whose},") if whose else str(name),
                "value": float(row["value"]),
                "text": number_text(row["value"], 4),
                "quotient": quotient,
                "used": row["used"],
                "right": name == "all targets",
            }
        )
    shown = [[[number_text(float(loss)) for loss in batch] for batch in rank] for rank in losses]
    return {"rows": rows, "losses": shown}


def _row(name: str, row: Any) -> dict[str, Any]:
    write = percent if row["unit"] == "of peak" else number_text
    unit = " ms" if row["unit"] == "ms" else ""
    return {
        "name": name,
        "unit": row["unit"],
        "before": float(row["before"]),
        "after": float(row["after"]),
        "beforeText": write(row["before"]) + unit,
        "afterText": write(row["after"]) + unit,
        "ratio": None if math.isnan(row["ratio"]) else float(row["ratio"]),
        "change": row["change"],
        "counts": row["counts"],
    }


def _side(
    name: str, batch: Any, counts: Any, width: int, accumulation: int, pad_id: int | None
) -> dict[str, Any]:
    roles = token_roles(batch, pad_id=pad_id)
    rows = int(roles["row"].max()) + 1 if len(roles) else 0
    runs = role_runs(roles)
    per_update = f" × {accumulation} microbatches" if accumulation > 1 else ""
    known = roles["role"].value_counts()
    held = [
        f"{int(known.get('prompt', 0)):,} prompt",
        f"{int(known.get('completion', 0)):,} completion, {int(roles['scored'].sum()):,} scored",
        f"{int(known.get('padding', 0)):,} padding",
    ]
    return {
        "name": name,
        "title": f"{len(roles):,} positions{per_update}",
        "time": f"{number_text(counts.ms_per_update)} ms per update",
        "held": " · ".join(held),
        "ms": counts.ms_per_update,
        "width": width,
        "rows": runs,
        "hidden": rows - len(runs),
    }


def _packs(case: PackingCase) -> bool:
    before, after = case.widths
    return after > before


def _spoken(large: Iterable[dict[str, Any]]) -> list[str]:
    said = []
    for row in large:
        if row["change"] == "unchanged":
            said.append(f"{row['label']}: {row['beforeText']}, unchanged.")
        else:
            said.append(f"{row['label']}: {row['beforeText']} to {row['afterText']}.")
    return said
