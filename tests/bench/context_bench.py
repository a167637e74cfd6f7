"""Contexts for random tasks over 10,000 memories: what a build takes beside one recall, and whether its budget holds.

    python -m tests.bench.context_bench [--tasks 1000] [--window 8000] [--embedder e5-small-v2] [--home DIR]

The memories are the sample graph, and neurons, abstractions, knowledge and a persona made of its titles. A task is made of
words of some of them, on topic, off topic or trivial. A recall and a build take turns, each on a task of its own. Prints
median and 95th percentile in milliseconds, their ratio, and the most tokens that memory had in any context; the exit code is
1 where that is more than the budget.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from graph.settings import Settings
from recall import tokens
from recall.budget import MEMORY_BLOCKS, memory_budget
from recall.service import Service, open_service
from seeds.facts import FOLDER, read
from seeds.loader import load_sample

NS = "bench"
EXTRA = {"neuron": 250, "abstraction": 150, "knowledge": 150, "persona": 130}
TRIVIAL = ("what time is it", "hello", "thanks!", "2+2", "how are you", "tell me a joke")
ASKING = ("Summarise", "Explain to a newcomer", "Compare with its predecessor:", "Write a test plan for", "Find faults in")


class Tasks:
    """Random tasks, the same for the same seed."""

    def __init__(self, titles: list[str], seed: int):
        self._titles, self._chance = titles, random.Random(seed)

    def one(self) -> str:
        chance = self._chance
        if chance.random() < 0.1:
            return chance.choice(TRIVIAL)
        words = chance.choice(self._titles).split()
        if chance.random() < 0.3:
            words += chance.choice(self._titles).split()
        if chance.random() < 0.2:
            chance.shuffle(words)
        return f"{chance.choice(ASKING)} {' '.join(words[: chance.randint(2, 16)])}"


class Caller:
    def __init__(self, service: Service):
        self._dispatcher = service.dispatcher

    def __call__(self, verb: str, **body: Any) -> Mapping[str, Any]:
        return self._dispatcher.call(verb, body, ns=NS).body


def fill(service: Service, titles: list[str]) -> None:
    """The sample graph and what was learnt from it."""
    load_sample(service, ns=NS)
    call = Caller(service)
    if call("kg.list", kind="neuron", limit=1)["results"]:
        return
    chance = random.Random(0)
    items: list[dict[str, Any]] = []
    for kind, count in EXTRA.items():
        for title in chance.sample(titles, count):
            item: dict[str, Any] = {"kind": kind, "content": f"Worth knowing: {title} is asked for often."}
            if kind == "neuron":
                item["triggers"] = [" ".join(title.split()[:2])]
            if kind == "persona":
                item = {"kind": "memory", "memory_type": "personality", "content": f"I like to begin with {title}."}
            items.append(item)
    for at in range(0, len(items), 200):
        call("kg.create", items=items[at : at + 200])


def measure(service: Service, tasks: Tasks, rounds: int, window: int) -> tuple[dict[str, list[float]], list[int], int]:
    """Milliseconds by way, tokens of memory by build, and how many builds had none."""
    call = Caller(service)
    took: dict[str, list[float]] = {"recall": [], "build": []}
    spent, without = [], 0
    for _ in range(rounds):
        query, task = tasks.one(), call("context.task_start", description=tasks.one())["id"]
        started = time.perf_counter()
        call("memory.recall", query=query)
        took["recall"].append((time.perf_counter() - started) * 1000)
        started = time.perf_counter()
        built = call("context.build", task_id=task, window=window)
        took["build"].append((time.perf_counter() - started) * 1000)
        memory = [block for block in built["blocks"] if block["name"] in MEMORY_BLOCKS]
        spent.append(sum(tokens.count(block["text"]) for block in memory))
        without += not memory
    return took, spent, without


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--tasks", type=int, default=1000)
    options.add_argument("--window", type=int, default=8000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--embedder", default="e5-small-v2")
    options.add_argument("--home", type=Path, help="kept for another run; filled if it is empty")
    args = options.parse_args()
    home = args.home or Path(tempfile.mkdtemp(prefix="palimpsest-bench-"))
    given = {"home": home, "embedder": args.embedder, "multilingual": "off"}
    service = open_service(Settings.from_environment({}, **given))
    try:
        titles = [document.sentence.partition(". ")[0].partition(": ")[2] for document in read(FOLDER).documents]
        titles = [title for title in titles if len(title.split()) > 2]
        fill(service, titles)
        measure(service, Tasks(titles, args.seed + 1), 40, args.window)  # warm
        took, spent, without = measure(service, Tasks(titles, args.seed), args.tasks, args.window)
    finally:
        service.close()
    for name, times in took.items():
        print(f"{name:7} p50 {np.percentile(times, 50):6.1f} ms   p95 {np.percentile(times, 95):6.1f} ms")
    print(f"build / recall: p50 {np.percentile(took['build'], 50) / np.percentile(took['recall'], 50):.2f}")
    print(f"memory: at most {max(spent)} tokens of {memory_budget(args.window)}, none in {without} of {len(spent)} contexts")
    return int(max(spent) > memory_budget(args.window))


if __name__ == "__main__":
    sys.exit(main())
