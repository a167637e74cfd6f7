"""What reaches a model, the traces of it, and analytics."""

from __future__ import annotations

import re

import pytest
from conftest import words

from web.page.charts import Chart, chart_of, drawn, nice

TASK = "When does the crane of the north quay need its yearly inspection?"


@pytest.fixture
def notes(call) -> None:
    for n in range(12):
        call.note(f"The crane of the north quay needs its yearly inspection in week {n + 10}, says report number {n}.")


def test_a_selection_is_shown_within_its_budget_and_keeps_nothing(reader, notes, call):
    page = reader.get("/context", task=TASK, budget="60")
    text = words(page)
    assert re.search(r"\d+ memor(y|ies) of \d+ candidates · \d+ of 60 tokens", text)
    assert "the crane of the north quay" in text.lower()
    assert call("context.traces")["results"] == []


def test_a_build_shows_what_was_let_in_and_what_was_dropped_and_why(reader, notes, call):
    page = reader.send("/context", task=TASK, window="800").text
    text = words(page)
    assert f"ACTIVE TASK: {TASK}" in text
    assert "the memory budget was full" in text
    admitted, dropped = text.index("Admitted"), text.index("Dropped")
    assert admitted < text.index("Memory priority 50") < dropped
    (trace,) = call("context.traces")["results"]
    assert trace["description"] == TASK
    assert f"/traces/{trace['id']}" in page
    shown = words(reader.get(f"/traces/{trace['id']}"))
    assert "the memory budget was full" in shown
    assert f"{trace['memory_tokens']} of {trace['memory_budget']} tokens" in shown
    assert TASK in words(reader.get("/traces"))


def test_a_context_without_memory_says_so(reader, notes):
    text = words(reader.send("/context", task="what time is it").text)
    assert "Nothing here is likely enough to answer that" in text
    assert "Nothing: all that was relevant had room." in text
    assert "abstained" in words(reader.get("/traces"))
    assert "No memory" in words(reader.get("/context", task="what time is it"))


@pytest.mark.parametrize(
    ("form", "field", "fault"),
    [({"task": TASK, "window": "0"}, "window", "must be from 1"), ({"task": " "}, "task", "must not be empty")],
)
def test_a_fault_of_a_build_stands_at_its_field(reader, form, field, fault):
    answer = reader.send("/context", **form)
    assert answer.status_code == 422
    assert fault in re.search(rf'<p class="fault" id="{field}-about">([^<]*)', answer.text)[1]


def test_traces_come_a_page_at_a_time(call):
    for n in range(5):
        task = call("context.task_start", description=f"Task {n}")["id"]
        call("context.build", task_id=task)
        call("context.task_complete", task_id=task)
    first = call("context.traces", limit=3)
    second = call("context.traces", limit=3, before=first["next_cursor"])
    assert [trace["description"] for trace in first["results"] + second["results"]] == [f"Task {n}" for n in (4, 3, 2, 1, 0)]
    assert second["next_cursor"] is None
    assert "blocks" not in first["results"][0]
    assert call.within("test-page-foreign")("context.traces")["results"] == []


def test_a_trace_of_nobody_is_not_here(reader):
    assert "Not here" in words(reader.get("/traces/nobody", 404))


def test_every_question_has_its_page(reader, notes):
    reader.send("/context", task=TASK, window="800")
    page = reader.get("/analytics")
    names = re.findall(r'href="/analytics/(\w+)\?', page)
    assert len(names) >= 4
    for name in names:
        answer = reader.get(f"/analytics/{name}")
        assert "<table>" in answer or "Nothing in that time." in answer
        assert "/browser/?dbms=" in answer
    assert "the crane of the north quay" in words(reader.get("/analytics/dropped_for_budget")).lower()


def test_a_question_takes_its_numbers_from_the_form(reader):
    page = reader.get("/analytics/dropped_for_budget", 422, days="0")
    assert "must be from 1 to " in page
    assert 'value="3"' in reader.get("/analytics/dropped_for_budget", days="3")
    assert "Not here" in words(reader.get("/analytics/nothing", 404))


def test_a_header_asks_for_a_chart():
    assert chart_of("// P.\n// chart: line x=day y=rate\n// params: -") == Chart(kind="line", x="day", y="rate")
    assert chart_of("// chart: bar x=title y=times") == Chart(kind="bar", x="title", y="times")
    assert chart_of("// chart: pie x=a y=b") is None
    assert chart_of("RETURN 1") is None


def test_a_chart_stays_inside_its_frame():
    rows = [{"day": f"2026-01-{n:02}", "rate": n / 40} for n in range(1, 29)]
    found = drawn(Chart(kind="line", x="day", y="rate"), rows)
    width, height = found["size"]
    assert len(found["marks"]) == 28
    assert all(0 <= mark["at"] <= height and 0 <= mark["middle"] <= width for mark in found["marks"])
    assert found["ticks"][0][1] == "0"
    assert found["ticks"][-1][1] == "1"
    assert len(found["labels"]) <= 8
    below = drawn(Chart(kind="bar", x="day", y="rate"), [{"day": "a", "rate": -2}, {"day": "b", "rate": 4}])
    assert all(mark["y"] + mark["height"] <= height and mark["height"] >= 0 for mark in below["marks"])


def test_a_chart_of_nothing_is_none():
    chart = Chart(kind="bar", x="a", y="b")
    assert drawn(chart, []) is None
    assert drawn(chart, [{"a": "x", "b": None}, {"a": "y", "b": float("nan")}, {"c": 1}]) is None
    assert drawn(chart, [{"a": None, "b": 0}])["marks"][0]["height"] == 0


@pytest.mark.parametrize(("value", "top"), [(0, 1), (0.93, 1), (1, 1), (1.2, 2), (23, 25), (260, 500), (0.004, 0.005)])
def test_an_axis_ends_at_a_round_number(value, top):
    assert nice(value) == pytest.approx(top)


def test_a_chart_is_drawn_where_a_statement_asks_for_one(reader, notes, service):
    from dataclasses import replace

    reader.send("/context", task=TASK, window="800")
    statements = service.store.statements
    before = statements["analytics.irrelevant_rate"]
    statements["analytics.irrelevant_rate"] = replace(before, text=f"// chart: line x=day y=rate\n{before.text}")
    try:
        page = reader.get("/analytics/irrelevant_rate")
    finally:
        statements["analytics.irrelevant_rate"] = before
    assert '<polyline class="curve"' in page
    assert 'aria-label="rate by day; the table below has the numbers"' in page
    assert "<table>" in page
