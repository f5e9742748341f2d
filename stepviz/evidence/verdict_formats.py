"""A verdict for a terminal, a pull request, or a program."""

from __future__ import annotations

import json
import math
import textwrap
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from stepviz.evidence.verdicts import Verdict

FORMATS: Final = ("text", "markdown", "json")
_HEAD: Final = ("before", "after", "change", "ratio", "95 %")
_WIDTH: Final = 100


def said(found: Verdict, form: str = "text", gate: float | None = None) -> str:
    """Return a verdict in one of `FORMATS`; with the gate's answer where there is one."""
    if form == "json":
        passed = {"gate": gate, "passed": found.passes(gate)}
        return json.dumps(found.to_dict() | passed, indent=2, ensure_ascii=False, allow_nan=False)
    return _markdown(found, gate) if form == "markdown" else _text(found, gate)


def _gate(found: Verdict, gate: float | None) -> str:
    """Say whether the gate is passed and why, "" where there is none and nothing to say."""
    from stepviz.evidence.useful_work import NOT_KNOWN
    from stepviz.evidence.verdict_words import percent_change

    if found.work == NOT_KNOWN:
        which = "Not passed" if gate is None else "Gate not passed"
        return (
            f"{which}: the useful work is not known to be equal. Where it is, say --same-work "
            "(same_work=True) or give --tokens (counts=)."
        )
    if gate is None:
        return ""
    most = found.interval.high
    shown = percent_change(most) if math.isfinite(most) else "any length"
    which = "passed" if found.passes(gate) else "not passed"
    other = "; and something else than the change may explain it" if found.confounded else ""
    return (
        f"Gate {which}: the time for the same work may change by {percent_change(1 + gate / 100)} "
        f"at most, and its interval goes to {shown}{other}."
    )


def _text(found: Verdict, gate: float | None) -> str:
    lines = [f"{found.decision.upper()}: {found.reason}"]
    if found.trap:
        lines.append(f"Trap avoided: {found.trap}.")
    if gated := _gate(found, gate):
        lines.append(gated)
    lines.append("")
    rows = _rows(found)
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    for row in rows:
        cells = [
            row[0].ljust(widths[0]),
            *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True)),
        ]
        lines.append("  ".join(cells).rstrip())
    lines += ["", *(f"- {note}" for note in found.notes)]
    return "\n".join(
        line
        if len(line) <= _WIDTH or "   " in line
        else textwrap.fill(line, _WIDTH, subsequent_indent="  ", break_on_hyphens=False)
        for line in lines
    )


def _markdown(found: Verdict, gate: float | None) -> str:
    rows = [[cell.replace("|", "\\|") for cell in row] for row in _rows(found)]
    parts = [f"**{found.decision.capitalize()}.** {found.reason}"]
    if found.trap:
        parts.append(f"Trap avoided: {found.trap}.")
    if gated := _gate(found, gate):
        parts.append(gated)
    table = ["| " + " | ".join(rows[0]) + " |", "|---" + "|---:" * (len(rows[0]) - 1) + "|"]
    table += ["| " + " | ".join(row) + " |" for row in rows[1:]]
    parts.append("\n".join(table))
    parts.append("\n".join(f"- {note}" for note in found.notes))
    return "\n\n".join(parts)


def _rows(found: Verdict) -> list[list[str]]:
    rows = [["", *_HEAD]]
    for name, row in found.table.to_dict("index").items():
        unit = "" if row["unit"] == "ms" else f" {row['unit']}"
        span = ""
        if not math.isnan(row["low"]):
            span = f"{row['low']:.3f} – {row['high']:.3f}"
        rows.append(
            [
                f"{name}, ms" if row["unit"] == "ms" else f"{name}",
                _figure(row["before"]) + unit,
                _figure(row["after"]) + unit,
                _figure(row["change"], signed=True),
                "" if math.isnan(row["ratio"]) else f"{row['ratio']:.3f}",
                span,
            ]
        )
    if found.interval.level != 0.95:
        rows[0][-1] = f"{100 * found.interval.level:g} %"
    return rows


def _figure(value: Any, *, signed: bool = False) -> str:
    number = float(value)
    text = f"{number:+,.4g}" if signed else f"{number:,.4g}"
    if "e" in text:
        text = f"{number:+,.0f}" if signed else f"{number:,.0f}"
    return text.replace("-", "−")
