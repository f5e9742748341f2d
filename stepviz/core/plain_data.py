"""A timeline as plain data, which is its JSON: the same on disk, in a notebook and in the page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from stepviz.core.tables import Tables
from stepviz.errors import TimelineError

SCHEMA = "stepviz.timeline/1"
KEYS = ("schema", "name", "target", "phases", "dependencies")


def write(tables: Tables, target: str | None, name: str) -> dict[str, Any]:
    """Return a timeline as dicts, lists, numbers and text; no NaN, no infinity."""
    phases = tables.records()
    for record in phases:
        if record["members"] is None:
            del record["members"]
        else:
            record["members"] = list(record["members"])
    return {
        "schema": SCHEMA,
        "name": name,
        "target": target,
        "phases": phases,
        "dependencies": tables.links(),
    }


def read(data: object) -> dict[str, Any]:
    """Return the arguments of `Timeline` that plain data stands for."""
    if not isinstance(data, Mapping):
        msg = f"a timeline's JSON is an object with 'phases', not {type(data).__name__}"
        raise TimelineError(msg)
    unknown = [key for key in data if key not in KEYS]
    if unknown or "phases" not in data:
        what = f"has an unknown key {unknown[0]!r}" if unknown else "has no 'phases'"
        msg = f"a timeline's JSON {what}: it has {', '.join(map(repr, KEYS))}"
        raise TimelineError(msg)
    schema = data.get("schema", SCHEMA)
    if schema != SCHEMA:
        msg = f"this is {schema!r}; this version of stepviz reads {SCHEMA!r}"
        raise TimelineError(msg)
    return {
        "phases": data["phases"],
        "dependencies": data.get("dependencies"),
        "target": data.get("target"),
        "name": data.get("name") or "",
    }


def parse(text: str | bytes) -> Any:
    """Read JSON text; what can't be read, or says something twice, is a `TimelineError`."""
    if not isinstance(text, str | bytes | bytearray):
        msg = f"JSON is text, not {type(text).__name__}: give what to_json wrote"
        raise TimelineError(msg)
    if isinstance(text, str):
        text = text.removeprefix("\ufeff")
    try:
        return json.loads(text, object_pairs_hook=_without_repeats)
    except TimelineError:
        raise
    except (ValueError, RecursionError) as error:
        msg = f"this is not JSON that can be read: {error}. Give the text that to_json wrote"
        raise TimelineError(msg) from None


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        msg = f"the key {twice!r} stands twice in one object of this JSON: keep one"
        raise TimelineError(msg)
    return found
