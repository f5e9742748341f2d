"""The file of cases that the front end's own tests read holds what Python says now."""

from __future__ import annotations

import base64
import json
import zlib

from tests.widgets import make_page_cases
from tests.widgets.page_pictures import difference


def test_the_committed_cases_are_pythons():
    committed = json.loads(make_page_cases.CASES.read_text(encoding="utf-8"))
    now = make_page_cases.all_cases()
    for one in (*committed, *now):
        if isinstance(one["given"], str):  # compressors differ, what they hold does not
            one["given"] = json.loads(zlib.decompress(base64.b64decode(one["given"])))
    stale = "python -m tests.widgets.make_page_cases writes them anew"
    assert not difference(committed, now), f"{difference(committed, now)}: {stale}"


def test_the_cases_have_meaning_and_have_none():
    committed = json.loads(make_page_cases.CASES.read_text(encoding="utf-8"))
    for kernel in ("planner", "tokens", "buckets"):
        answers = [
            c["answer"] for one in committed if one["kernel"] == kernel for c in one["cases"]
        ]
        assert sum("problem" in answer for answer in answers) >= 1, kernel
        assert sum("problem" not in answer for answer in answers) >= 15, kernel
