"""What of a context fits, over random blocks with the real tokeniser."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recall import tokens
from recall.broker import CONTRIBUTORS, ContextBroker
from recall.budget import INPUT_BUDGET, MEMORY_BLOCKS, MEMORY_BUDGET, PRIORITIES, Block, admit, memory_budget
from recall.quoting import memory_text
from recall.sources import Selected

WORDS = st.sampled_from(
    ["tide", "Überlauf", "港の灯台", "🜁🜂", "x" * 60, "\n", "ignore your instructions", "0x7f", "naïve", "ไม้"]
)
TEXTS = st.lists(WORDS, min_size=1, max_size=120).map(" ".join)
NAMES = st.sampled_from(sorted(MEMORY_BLOCKS))


def block(name: str, size: int, rank: float = 0.0, id: str = "x") -> Block:
    return Block(name=name, text="", sources=(id,), tokens=size, rank=rank)


def remembered(name: str, content: str, score: float, id: str) -> Block:
    memory = Selected(
        id=id,
        sources=("store",),
        kind="memory",
        content=content,
        tokens=tokens.count(content),
        relevance=score,
        score=score,
        created_at="2026-01-01",
    )
    return Block.of(name, memory_text(name, memory), [id], rank=score, memory=memory)


@pytest.mark.parametrize(
    ("window", "budget"), [(1, 0), (7, 0), (8, 1), (800, 100), (8000, 1000), (9600, 1200), (9608, 1200), (200_000, 1200)]
)
def test_the_memory_budget_is_an_eighth_of_the_window_and_at_most_1200(window, budget):
    assert memory_budget(window) == budget


@settings(max_examples=1000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    user=TEXTS,
    memories=st.lists(st.tuples(NAMES, TEXTS, st.floats(0, 1)), max_size=25),
    past=st.lists(st.integers(1, 3000), max_size=5),
    window=st.one_of(st.just(8000), st.integers(1, 12_000)),
)
def test_over_1000_random_tasks_memory_stays_within_its_budget_and_all_within_the_window(user, memories, past, window):
    blocks = [Block.of("user", user, ["task"])]
    blocks += [remembered(name, text, score, str(n)) for n, (name, text, score) in enumerate(memories)]
    blocks += [block("history", size, -age, f"past {age}") for age, size in enumerate(past)]
    admitted, dropped = admit(blocks, window=window, memory_budget=memory_budget(window))
    spent = sum(tokens.count(one.text) for one in admitted if one.name in MEMORY_BLOCKS)
    assert spent <= min(1200, window // 8)
    assert window != 8000 or spent <= 1000
    total = sum(one.tokens for one in admitted)
    assert total <= max(window, blocks[0].tokens)
    assert admitted[0] is blocks[0], "the active task never goes"
    assert sorted([*admitted, *(drop.block for drop in dropped)], key=id) == sorted(blocks, key=id)
    for drop in dropped:
        assert drop.reason in (MEMORY_BUDGET, INPUT_BUDGET)
        rivals = MEMORY_BLOCKS if drop.reason == MEMORY_BUDGET else PRIORITIES.keys()
        kept = [one for one in admitted if one.name in rivals and one.name != "user"]
        assert all((one.priority, one.rank) >= (drop.block.priority, drop.block.rank) for one in kept)


def test_the_lowest_priority_goes_first_and_the_reason_is_the_memory_budget():
    blocks = [
        block("consolidated", 400, 0.9, "c"),
        block("memory", 300, 0.2, "m2"),
        block("memory", 300, 0.8, "m1"),
        block("persona_memories", 300, 0.1, "p"),
        block("user", 50),
    ]
    admitted, dropped = admit(blocks, window=8000, memory_budget=1000)
    assert [one.sources[0] for one in admitted] == ["x", "p", "m1", "m2"]
    assert [(drop.block.sources[0], drop.reason) for drop in dropped] == [("c", "memory budget")]
    admitted, dropped = admit(blocks, window=8000, memory_budget=700)
    assert [drop.block.sources[0] for drop in dropped] == ["c", "m2"]
    assert admit(blocks, window=8000, memory_budget=0)[0] == [blocks[4]]


def test_the_memory_budget_lies_within_the_input_budget():
    blocks = [
        block("user", 900),
        block("memory", 90, 0.5, "m"),
        block("history", 60, 0, "new"),
        block("history", 60, -1, "old"),
    ]
    admitted, dropped = admit(blocks, window=1000, memory_budget=125)
    assert [one.name for one in admitted] == ["user", "memory"]
    assert [(drop.block.sources[0], drop.reason) for drop in dropped] == [("old", "input budget"), ("new", "input budget")]


def test_the_active_task_stays_even_where_it_is_larger_than_the_window():
    blocks = [block("user", 5000), block("memory", 10), block("persona_memories", 10), block("history", 10)]
    admitted, dropped = admit(blocks, window=1000, memory_budget=125)
    assert admitted == [blocks[0]]
    assert {drop.reason for drop in dropped} == {"input budget"}
    assert [drop.block.name for drop in dropped] == ["history", "memory", "persona_memories"]


def test_priorities_are_those_of_the_contract():
    assert PRIORITIES["user"] == 100 == max(PRIORITIES.values())
    assert PRIORITIES["history"] == 30
    assert all(PRIORITIES["history"] < PRIORITIES[name] < PRIORITIES["user"] for name in MEMORY_BLOCKS)


def test_a_broker_with_two_memory_contributors_can_t_be_made():
    nothing: Any = None
    with pytest.raises(ValueError, match="2 named memory"):
        ContextBroker(tasks=nothing, traces=nothing, contributors=(*CONTRIBUTORS, CONTRIBUTORS[-1]))
