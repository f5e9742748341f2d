"""The capture panel's form on a page, answered by the real widget; the launcher only pretends."""

from __future__ import annotations

import pytest

import stepviz as sv
from stepviz.widgets import capture_panel


@pytest.fixture
def panel(monkeypatch):
    monkeypatch.setattr(capture_panel, "why_none_here", lambda: "")
    runs = {"base": sv.sample_run(), "slow": sv.sample_run("slow rank")}
    return sv.CapturePanel(runs=runs)


def tell(page, panel, *given, **more):
    panel.form.tell(*given, **more)
    page.evaluate("state => window.stub.fromPython(state)", {"_job": panel.form._job})


def said(page, role):
    return page.locator(f'[data-role="{role}"]')


def type_in(page, name, text):
    page.locator(f'input[type="text"][data-knob="{name}"]').fill(text)
    page.keyboard.press("Enter")


def until(page, role, text):
    page.wait_for_function(
        "([role, text]) => document.querySelector(`[data-role=${role}]`).innerText.includes(text)",
        arg=[role, text],
    )


def test_options_are_typed_and_refused_in_the_sentences_of_capture(knob_page, panel):
    page = knob_page(panel.form)
    type_in(page, "bucket_cap_mb", "1, 2,4")
    page.wait_for_selector(".stepviz:not([data-stale])")
    assert panel.value["bucket_cap_mb"] == [1, 2, 4]
    assert page.locator(".cp-code code").inner_text() == "sv.capture(bucket_cap_mb=[1, 2, 4])"
    type_in(page, "bucket_cap_mb", "")
    page.wait_for_selector(".stepviz:not([data-stale])")
    assert panel.value["bucket_cap_mb"] is None

    # Two options that need each other: the first says what it lacks, the second puts it right.
    type_in(page, "slow_rank", "1")
    until(page, "status", "slow_rank=1 without slow_ms changes nothing; give slow_ms=20, say")
    assert said(page, "run").is_disabled()
    type_in(page, "slow_ms", "20")
    page.wait_for_selector(".stepviz:not([data-stale])")
    assert said(page, "run").is_enabled()
    assert said(page, "status").is_hidden()
    assert (panel.value["slow_rank"], panel.value["slow_ms"]) == (1, 20)

    page.locator(".cp-rest > summary").click()
    page.locator('[data-knob="optimizer"]').select_option("sgd")
    page.locator('[data-knob="fused"]').uncheck()
    page.wait_for_function("document.querySelector('code').textContent.includes('fused=False')")
    assert panel.value["optimizer"] == "sgd"


def test_the_bar_the_buttons_and_what_is_said_aloud(knob_page, panel, monkeypatch):
    heard = []
    monkeypatch.setattr(panel.form, "_heard", lambda what, which: heard.append((what, which)))
    page = knob_page(panel.form)
    assert said(page, "stop").is_hidden()
    said(page, "run").focus()
    page.keyboard.press("Enter")
    page.wait_for_timeout(100)
    assert heard == [("run", None)]
    bar = page.get_by_role("progressbar", name="capture")
    for share in (0.1, 0.3, 0.35):
        tell(page, panel, "running", share, "pass 3 of 21, gloo on cpu")
        assert float(bar.evaluate("bar => bar.value")) == share
    assert said(page, "words").inner_text() == "35 % · pass 3 of 21, gloo on cpu"
    assert said(page, "progress-live").inner_text() == "The capture is 25 % done."
    assert said(page, "run").is_disabled()
    # The keys keep their place, and Enter on it once more begins nothing.
    focus = "document.activeElement.dataset.role"
    assert page.evaluate(focus) == "run"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate(focus) == "stop"
    page.keyboard.press("Enter")
    page.wait_for_timeout(100)
    assert heard[1:] == [("stop", None)]
    tell(page, panel, "stopping", 0.35, "stopping")
    assert said(page, "stop").is_disabled()
    tell(page, panel, "stopped", words="the capture was stopped")
    assert page.evaluate(focus) == "run"
    assert said(page, "progress-live").inner_text() == "the capture was stopped"
    tell(page, panel, "failed", problem="rank 1 of 2 failed: boom\n  last lines:\n    <b>x</b>")
    alert = page.get_by_role("alert")
    assert said(page, "failure").inner_text() == "rank 1 of 2 failed: boom"
    alert.locator("summary").click()
    assert "<b>x</b>" in alert.locator("pre").inner_text()
    assert said(page, "run").is_enabled()


def test_a_run_is_chosen_with_keys(knob_page, panel):
    page = knob_page(panel.form)
    rows = page.locator('[data-role="runs"] tbody tr')
    assert rows.count() == 2
    first, second = panel.table["step_ms"]
    assert rows.nth(0).locator("td").nth(2).inner_text().startswith(f"{first:.1f}")
    assert rows.nth(1).locator("td").nth(2).inner_text().startswith(f"{second:.1f}")
    assert panel.table.loc["slow", "verdict"] in rows.nth(1).inner_text()
    page.get_by_role("radio", name="base").focus()
    page.keyboard.press("ArrowDown")
    page.wait_for_timeout(200)
    assert panel.chosen == "slow"
    page.evaluate("state => window.stub.fromPython(state)", {"_table": panel.form._table})
    assert page.locator("tr[data-chosen]").inner_text().startswith("slow")
    # The table was drawn anew: the keys stay where they were.
    assert page.evaluate("document.activeElement.dataset.run") == "1"


def test_the_chosen_run_is_renamed_and_removed(knob_page, panel):
    page = knob_page(panel.form)
    show = lambda: page.evaluate(
        "state => window.stub.fromPython(state)", {"_table": panel.form._table}
    )
    label = said(page, "label")
    assert label.input_value() == "base"
    label.fill("nothing of this")
    page.keyboard.press("Escape")
    assert label.input_value() == "base"

    # Enter, or the button.
    label.fill("small buckets")
    page.keyboard.press("Enter")
    page.wait_for_timeout(100)
    assert list(panel.runs) == ["small buckets", "slow"]
    show()
    assert page.locator("tr[data-chosen]").inner_text().startswith("small buckets")
    label.fill("slow")
    said(page, "rename").click()
    page.wait_for_timeout(100)
    show()
    assert said(page, "runs-said").inner_text().startswith("'slow' is another run's label")
    assert label.input_value() == "slow"  # to be mended
    assert list(panel.runs) == ["small buckets", "slow"]

    said(page, "remove").click()
    page.wait_for_timeout(100)
    show()
    assert page.locator('[data-role="runs"] tbody tr').count() == 1
    assert said(page, "runs-said").inner_text().startswith("small buckets is off the table")
    assert label.input_value() == "slow"
    said(page, "remove").click()
    page.wait_for_timeout(100)
    show()
    assert (panel.runs, panel.run) == ({}, None)
    assert said(page, "runs").is_hidden()
    assert label.is_hidden()
    assert said(page, "runs-said").is_visible()


def test_where_nothing_can_be_captured_it_says_what_to_install(knob_page, monkeypatch):
    said_so = "capture needs torch, which is not installed: pip install 'stepviz[capture]'"
    monkeypatch.setattr(capture_panel, "why_none_here", lambda: said_so)
    page = knob_page(sv.CapturePanel().form)
    assert said(page, "run").is_disabled()
    assert said(page, "words").inner_text() == said_so
    assert page.locator('[data-role="runs"] tbody tr').count() == 2


def test_it_fits_a_narrow_cell(knob_page, panel):
    page = knob_page(panel.form, context={"viewport": {"width": 430, "height": 900}})
    page.locator(".cp-rest > summary").click()
    wide = page.evaluate("(r => r.scrollWidth - r.clientWidth)(document.querySelector('.stepviz'))")
    assert wide <= 0
