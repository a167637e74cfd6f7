"""What 200 signals teach on labelled talk, through the verbs, on a store of its own.

    python -m tests.bench.learning [--signals 200] [--home DIR]

The notes are the chats of `recall/labels/written.json`; salience and age are dealt out by a seed, since the labels say
nothing of them. Four users judge what they are served: a hit pleases by whether it is labelled as an answer, by its salience
and by its recency, weighed by the user's taste, and is useful if it pleases more than halfway between the least and the most
pleasing. Some queries are held out from judging. They are recalled with the default profile and with the user's, and what
comes is ranked against what would please (nDCG@10). Prints that, and what `palimpsest brain replay` says of the signals.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from click.testing import CliRunner

from graph.settings import Settings
from recall.brain import EXAMINED
from recall.replay import ndcg
from recall.service import Service, open_service
from web.cli import main as palimpsest

LABELS = Path(__file__).parents[2] / "recall" / "labels" / "written.json"
NS = "talk"
TASTES = {
    "relevance-minded": (1.0, 0.0, 0.0),
    "recency-minded": (0.4, 0.0, 0.6),
    "salience-minded": (0.4, 0.6, 0.0),
    "balanced": (0.7, 0.2, 0.1),
}


def stored(service: Service, seed: int) -> list[tuple[str, set[str]]]:
    """Stores the chats; gives each answerable query with the ids of its answers."""
    rng = np.random.default_rng(seed)
    queries: list[tuple[str, set[str]]] = []
    now = dt.datetime.now(dt.UTC)
    for corpus in json.loads(LABELS.read_text("utf-8")):
        if not corpus["name"].startswith("talk-"):
            continue
        ages = rng.lognormal(3.0, 1.6, len(corpus["notes"])).clip(0, 3650)
        saliences = rng.choice([0.3, 0.5, 0.9], p=[0.5, 0.35, 0.15], size=len(corpus["notes"]))
        items = [
            {
                "content": note["content"],
                "created_at": (now - dt.timedelta(days=float(age))).isoformat(),
                "salience": float(salience),
            }
            for note, age, salience in zip(corpus["notes"], ages, saliences, strict=True)
        ]
        answer = service.dispatcher.call("memory.remember", {"items": items}, ns=NS).body
        ids = {note["key"]: node["id"] for note, node in zip(corpus["notes"], answer["results"], strict=True)}
        queries += [(q["q"], {ids[key] for key in q["relevant"]}) for q in corpus["queries"] if q.get("relevant")]
    rng.shuffle(queries)  # type: ignore[arg-type]
    return queries


class User:
    """Somebody with a taste and a profile of that name."""

    def __init__(self, service: Service, name: str):
        self.service, self.name, self.taste = service, name, np.array(TASTES[name])
        self.call("brain.profile_create", id=name)

    def call(self, verb: str, **body: Any) -> Mapping[str, Any]:
        return self.service.dispatcher.call(verb, body, ns=NS).body

    def pleasure(self, hits: list[Mapping[str, Any]], answers: set[str]) -> np.ndarray[Any, np.dtype[np.float64]]:
        features = [(float(hit["id"] in answers), hit["effective_salience"], hit["temporal"]) for hit in hits]
        return np.array(features) @ self.taste

    def teach(self, queries: list[tuple[str, set[str]]], signals: int) -> int:
        given = 0
        for query, answers in queries:
            served = self.call("memory.recall", query=query, profile=self.name)
            hits = served["results"]
            if len(hits) < 2:
                continue
            pleasure = self.pleasure(hits, answers)
            for hit, pleases in list(zip(hits, pleasure, strict=True))[:EXAMINED]:
                if given == signals:
                    return given
                signal = "useful" if pleases > (pleasure.min() + pleasure.max()) / 2 else "not_useful"
                self.call("memory.feedback", target_id=hit["id"], signal=signal, serve_id=served["serve_id"])
                given += 1
        return given

    def ranked(self, queries: list[tuple[str, set[str]]], profile: str) -> float:
        """Mean nDCG@10 of queries with at least two hits."""
        found = []
        for query, answers in queries:
            hits = self.call("memory.recall", query=query, profile=profile, limit=20)["results"]
            if len(hits) > 1:
                pleasure = self.pleasure(hits, answers)
                gains = (pleasure - pleasure.min()) / (np.ptp(pleasure) or 1.0)
                found.append(ndcg(gains, gains))
        return float(np.mean(found))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--signals", type=int, default=200)
    parser.add_argument("--held-out", type=int, default=160)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--home", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = options.home or Path(folder)
        service = open_service(Settings.from_environment(home=str(home)))
        try:
            queries = stored(service, options.seed)
            held, judged = queries[: options.held_out], queries[options.held_out :]
            users = [User(service, name) for name in TASTES]
            print("| users | signals | weights learned | nDCG@10 of queries never judged |\n|---|---|---|---|")
            for user in users:
                given = user.teach(judged, options.signals)
                weights = user.call("brain.profile_get", id=user.name)["weights"]
                learned = " / ".join(f"{weight:.2f}" for weight in weights.values())
                before, after = user.ranked(held, "default"), user.ranked(held, user.name)
                print(f"| {user.name} | {given} | {learned} | {before:.3f} -> {after:.3f} |")
        finally:
            service.close()
        print(CliRunner().invoke(palimpsest, ["brain", "replay", "--home", str(home), "-n", NS]).output)


if __name__ == "__main__":
    main()
