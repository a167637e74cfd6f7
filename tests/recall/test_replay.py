"""The replay: held-out queries by the priors and by what the others teach, from what lies in the graph."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from recall.brain import BalancedRecallState
from recall.replay import Labelled, as_rows, learned, ndcg, read, replay

THINGS = ("crane", "ferry", "kiln", "loom", "mast", "oven", "plough", "quay", "sluice", "turbine")
DEFAULTS = (0.7, 0.2, 0.1)
SALIENCES = (0.95, 0.75, 0.55, 0.35, 0.15, 0.05)


def labelled(query: str, *rows: tuple[float, float, float], useful: int, useless: int, profile: str = "p") -> Labelled:
    signals = [(useful, "useful"), (useless, "not_useful")]
    return Labelled(query=query, profile_id=profile, features=np.array(rows), weights=DEFAULTS, signals=signals)


def salience_minded(n: int, profile: str = "p") -> list[Labelled]:
    """Serves in which the second hit, a little less relevant and more salient, was the useful one."""
    return [labelled(f"q{k}", (0.9, 0.1, 0.5), (0.85, 0.35, 0.5), useful=1, useless=0, profile=profile) for k in range(n)]


def test_held_out_queries_rank_better_by_what_the_others_taught():
    (row,) = replay(salience_minded(60))
    assert (row.profile_id, row.queries, row.signals) == ("p", 60, 120)
    assert row.after.weights[1] > row.before.weights[1] == pytest.approx(0.2)
    assert (row.before.pairs, row.before.mrr) == (1.0, 1.0)  # 0.2 * 0.25 outweighs 0.7 * 0.05
    close = [labelled(f"q{k}", (0.9, 0.1, 0.5), (0.8, 0.35, 0.5), useful=1, useless=0) for k in range(60)]
    (row,) = replay(close)
    assert (row.before.pairs, row.after.pairs) == (0.0, 1.0)
    assert row.after.ndcg > row.before.ndcg
    assert (row.better, row.same, row.worse) == (60, 0, 0)


def test_no_query_is_ranked_by_what_was_said_about_itself():
    """The only query with signals: held out, nothing is left to learn from."""
    (row,) = replay([labelled("q", (0.9, 0.1, 0.5), (0.8, 0.35, 0.5), useful=1, useless=0)] * 40)
    assert row.after.ndcg == row.before.ndcg
    assert row.same == 40


def test_each_profile_is_a_row_of_its_own():
    rows = replay([*salience_minded(5, "a"), *salience_minded(7, "b")])
    assert [(row.profile_id, row.queries) for row in rows] == [("a", 5), ("b", 7)]
    assert json.loads(json.dumps(as_rows(rows)))[1]["profile"] == "b"
    assert replay([]) == []


def test_the_last_word_on_a_hit_is_its_label_and_every_signal_teaches():
    serve = labelled("q", (0.9, 0.1, 0.5), (0.8, 0.3, 0.5), useful=0, useless=1)
    changed = dataclasses.replace(serve, signals=[*serve.signals, (0, "wrong"), (1, "correction")])
    assert list(serve.gains) == [1, 0]
    assert list(changed.gains) == [0, 0]
    assert learned([changed], BalancedRecallState()) != learned([serve], BalancedRecallState())


@pytest.mark.parametrize(
    ("ranked", "value"), [([1, 0, 0], 1.0), ([0, 1, 0], 1 / np.log2(3)), ([0, 0, 0], 0.0), ([1, 1, 1], 1.0)]
)
def test_ndcg_of_orders_worked_out_by_hand(ranked, value):
    gains = np.array(ranked, dtype=float)
    assert ndcg(gains, gains) == pytest.approx(value)


def test_after_200_labelled_signals_the_learned_weights_rank_held_out_queries_no_worse(call, service):
    """A user who minds salience judges what ten queries serve, by verbs; the graph has what the replay needs."""
    items = [
        {
            "content": f"The {thing} in the yard was {'looked at' if salience > 0.5 else 'inspected'} {n} times",
            "salience": salience,
            "decay_factor": 0,
        }
        for thing in THINGS
        for n, salience in enumerate(SALIENCES, 2)
    ]
    ids = [node["id"] for node in call("memory.remember", items=items)["results"]]
    salience = {id: item["salience"] for id, item in zip(ids, items, strict=True)}
    call("brain.profile_create", id="minded")
    given = 0
    for _ in range(4):
        for thing in THINGS:
            query = f"how often was the {thing} in the yard inspected"
            answer = call("memory.recall", query=query, profile="minded", min_score=0, limit=6)
            for hit in answer["results"][:5]:
                signal = "useful" if salience[hit["id"]] > 0.5 else "not_useful"
                body = {"target_id": hit["id"], "signal": signal, "serve_id": answer["serve_id"]}
                given += call("memory.feedback", **body)["counted"]
    assert given == 200
    serves = read(service.store.within(call.ns), profile="minded")
    assert sum(len(serve.signals) for serve in serves) == 200
    (row,) = replay(serves)
    assert row.queries == len(THINGS)
    assert row.after.ndcg >= row.before.ndcg
    assert row.after.pairs > row.before.pairs
    assert row.after.weights[1] > 0.2
    assert row.after.weights == pytest.approx(tuple(call("brain.profile_get", id="minded")["weights"].values()), rel=1e-6)
    assert read(service.store.within(call.ns), profile="other") == []
