"""What of names may be shown to strangers: no folders, no signs that deceive, no endless names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any, Final

from stepviz.core.timeline import Timeline

#: Longer texts are cut.
LONGEST_TEXT: Final = 1000
#: Longer names of bars are cut.
LONGEST_NAME: Final = 120

#: A person's folder, whose name may hold spaces.
_HOME: Final = re.compile(r"(?i)(?:/home|/Users|\b[a-z]:[\\/]Users)[\\/][^\\/\n\"'<>|]{1,60}[\\/]")
#: All of an absolute path or an address but its last part.
_FOLDERS: Final = re.compile(
    r"(?<![\w.~\\/-])(?:[A-Za-z][A-Za-z0-9+.-]*:/{2,3}|[A-Za-z]:[\\/]|[\\/]{1,2}|~[\w.-]*[\\/])"
    r"(?:[^\s\\/:*?\"'<>|(),;]+[\\/])+"
)
#: Controls, and signs that turn the direction of text around or can't be written.
_DECEIVING: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff"
    "\ud800-\udfff\ufffe\uffff]"
)


class Cleaner:
    """Makes text fit for a report.

    Parameters
    ----------
    files : iterable of str
        The run's files: their folders are taken out of every text, even where they hold spaces.

    Examples
    --------
    >>> clean = Cleaner(["/data/my runs/rank0.json"])
    >>> clean("/data/my runs/rank0.json is empty; see /home/Ann Lee/train/loop.py(33): step")
    'rank0.json is empty; see loop.py(33): step'
    >>> clean("aten::add / aten::mul, 3/4 of s3://team/secret/rank1.json")
    'aten::add / aten::mul, 3/4 of rank1.json'
    """

    def __init__(self, files: Iterable[str]) -> None:
        found = set()
        for file in files:
            kinds = (PurePosixPath, PureWindowsPath) if "\\" in file else (PurePosixPath,)
            found |= {str(kind(file).parent) for kind in kinds}
        known = sorted(
            (folder for folder in found if len(folder) > 1 or folder.isalnum()),
            key=len,
            reverse=True,
        )
        either = "|".join(map(re.escape, known))
        self._folders = re.compile(rf"(?<![\w\\-])(?:{either})[\\/]") if known else None

    def __call__(self, text: str) -> str:
        """Return a text without folders and without signs that deceive, cut where it is endless."""
        text = text[: 20 * LONGEST_TEXT]
        if self._folders is not None:
            text = self._folders.sub("", text)
        text = _FOLDERS.sub("", _HOME.sub("/_/", text)).replace("/_/", "")
        text = _DECEIVING.sub("\ufffd", text)
        return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"

    def timeline(self, timeline: Timeline) -> Timeline:
        """Return a timeline with clean names, no two of them the same."""
        document: dict[str, Any] = timeline.to_dict()
        given: dict[str, str] = {}
        taken: set[str] = set()
        for phase in document["phases"]:
            name = self._name(phase["phase"])
            unique, number = name, 1
            while unique in taken:
                number += 1
                unique = f"{name} ({number})"
            taken.add(unique)
            given[phase["phase"]] = unique
        phases = [
            {
                **phase,
                "phase": given[phase["phase"]],
                "lane": None if phase["lane"] is None else self._name(phase["lane"]),
            }
            for phase in document["phases"]
        ]
        dependencies = [
            {**one, "source": given[one["source"]], "target": given[one["target"]]}
            for one in document["dependencies"]
        ]
        target = document.get("target")
        return Timeline.from_dict(
            {
                **document,
                "name": self._name(document["name"]),
                "target": None if target is None else given[target],
                "phases": phases,
                "dependencies": dependencies,
            }
        )

    def _name(self, name: str) -> str:
        clean = self(name).strip() or "unnamed"
        return clean if len(clean) <= LONGEST_NAME else f"{clean[:LONGEST_NAME]}…"
