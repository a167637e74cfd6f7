"""Import of notes with ready vectors, until they can be searched.

    python -m tests.bench.import_bench [--notes 100000] [--edges 3] [--home DIR]

Writes an export of that many notes of 40 words (384 dimensions, 20 namespaces, 3 edges each, 1 in 20 superseded), imports it
into an empty home, and prints the seconds until every index is ONLINE and a recall finds the last note. Then once more, as
after a run that was ended: everything is there.
"""

from __future__ import annotations

import argparse
import base64
import datetime as dt
import hashlib
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from graph import schema
from graph.records import new_id
from graph.settings import Settings
from recall.embed import register
from recall.importing import Importer
from recall.index import Indexer
from recall.jsonl import FORMAT, VERSION, line
from recall.service import Service, open_service
from tests.bench.dataset import DIMENSIONS, Dataset, Source
from tests.bench.recall_speed import Given


def write(file: Path, dataset: Dataset, edges: int) -> tuple[str, str]:
    """The export; returns the namespace and the text of the last note."""
    source, digest, counts = Source(dataset, dataset.seed + 1), hashlib.sha256(), {"node": 0, "edge": 0}
    rng, now, last = np.random.default_rng(dataset.seed), dt.datetime.now(dt.UTC), ("", "")
    model = {"slot": "embedding", "name": "given", "dimensions": DIMENSIONS}
    with file.open("wb") as out:

        def put(record: dict[str, Any]) -> None:
            counts[record["type"]] = counts.get(record["type"], 0) + 1
            text = line(record)
            digest.update(text)
            out.write(text)

        head = {"type": "header", "format": FORMAT, "version": VERSION, "schema": 0, "models": [model], "vectors": True}
        put(head | {"namespaces": dataset.namespaces})
        for ns in dataset.namespaces:
            each = dataset.notes // dataset.tenants
            ids, texts = sorted(new_id() for _ in range(each)), source.texts(each)
            old = {n - 7 for n in range(20, each, 20)}
            for n, (id, text, vector) in enumerate(zip(ids, texts, source.vectors(each), strict=True)):
                created = (now - dt.timedelta(minutes=each - n)).isoformat().replace("+00:00", "Z")
                properties = {"kind": "memory", "content": text, "created_at": created, "memory_type": "semantic"}
                record = {"type": "node", "ns": ns, "label": "Note", "id": id}
                if n in old:
                    record["superseded"] = True
                    properties["superseded_at"] = created
                packed = base64.b64encode(vector.astype("<f4").tobytes()).decode()
                put(record | {"properties": properties, "vectors": {"given": packed}})
                last = (ns, text)
            pairs = [(ids[n], "FOLLOWS", ids[n - 1]) for n in range(1, each)]
            pairs += [(ids[a], "SUPPORTS", ids[b]) for a, b in rng.integers(each, size=((edges - 1) * each, 2)) if a != b]
            pairs += [(ids[n + 7], "SUPERSEDES", ids[n]) for n in sorted(old)]
            for source_id, relation, target in sorted(pairs):
                put({"type": "edge", "ns": ns, "source": source_id, "relation": relation, "target": target})
        counts = {"nodes": counts["node"], "edges": counts["edge"]}
        out.write(line({"type": "end", **counts, "sha256": digest.hexdigest()}))
    return last


def _processor_s(service: Service) -> float:
    """What this process and Neo4j have worked, which tells more than the clock while others use the machine."""
    assert service.server is not None
    times = [psutil.Process(pid).cpu_times() for pid in (None, service.server.status().pid)]
    return sum(one.user + one.system for one in times)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--notes", type=int, default=100_000)
    options.add_argument("--edges", type=int, default=3, help="of each note")
    options.add_argument("--home", type=Path, help="kept; must be empty")
    args = options.parse_args()
    given = Given()
    register("given", lambda cache: given)
    home = args.home or Path(tempfile.mkdtemp(prefix="palimpsest-bench-"))
    file = home / "import.jsonl"
    ns, text = write(file, Dataset(notes=args.notes), args.edges)
    print(f"{file.stat().st_size / 1e6:.0f} MB")
    service = open_service(Settings.from_environment({}, home=home / "home", embedder="given", multilingual="off"))
    try:
        importer = Importer(service.store, service.models, Indexer(service.models))
        for time_of in ("first", "again"):
            started, worked = time.perf_counter(), _processor_s(service)
            found = importer.run(file)
            schema.await_online(service.store)
            query = {"query": text[:200], "min_score": 0, "limit": 1, "fusion": "keyword_only"}
            hits = service.dispatcher.call("memory.recall", query, ns=ns).body["results"]
            assert [hit["content"] for hit in hits] == [text]
            took = time.perf_counter() - started
            worked = _processor_s(service) - worked
            print(f"{time_of}: {took:.1f} s, {args.notes / took:.0f} notes/s; the processors worked {worked:.1f} s")
            print(f"  {found}")
    finally:
        service.close()


if __name__ == "__main__":
    main()
