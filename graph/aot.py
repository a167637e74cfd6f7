"""The training run that makes Java's start-up cache, which halves the time and the CPU of each later start.

    CACHE/aot/<key>.aot    classes of one JDK and one classpath, parsed and linked; about 160 MB

It is a Neo4j of its own in a throwaway home, at the lowest priority, started once in the background by the first start
of a managed server. Java ignores a cache that is damaged or was made for something else.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from pathlib import Path

from filelock import FileLock, Timeout

from graph import java
from graph.artifacts import classpath
from graph.server import ManagedServer, ask
from graph.settings import Settings

ROOM_MB = 1024
TRAINING_TIMEOUT_S = 600.0
TRAINING = (
    "CREATE CONSTRAINT warm_id IF NOT EXISTS FOR (n:Warm) REQUIRE (n.ns, n.id) IS UNIQUE",
    "CREATE FULLTEXT INDEX warm_text IF NOT EXISTS FOR (n:Warm) ON EACH [n.text]",
    "CREATE VECTOR INDEX warm_vector IF NOT EXISTS FOR (n:Warm) ON n.embedding WITH [n.ns] "
    "OPTIONS {indexConfig: {`vector.dimensions`: 2, `vector.similarity_function`: 'cosine'}}",
    "CALL db.awaitIndexes(60)",
    "UNWIND range(1, 50) AS i MERGE (n:Warm {ns: 'a', id: toString(i)}) SET n.text = 'word ' + i WITH n, i "
    "CALL db.create.setNodeVectorProperty(n, 'embedding', [1.0, toFloat(i)])",
    "MATCH (a:Warm), (b:Warm) WHERE a.id < b.id WITH a, b LIMIT 50 MERGE (a)-[:NEXT {weight: 0.5}]->(b)",
    "MATCH (n:Warm) SEARCH n IN (VECTOR INDEX warm_vector FOR [1.0, 2.0] WHERE n.ns = 'a' LIMIT 5) SCORE AS score "
    "RETURN collect(n.id), collect(score)",
    "CALL db.index.fulltext.queryNodes('warm_text', 'word', {limit: 5}) YIELD node, score "
    "MATCH (node)-[e:NEXT*1..2]-(m) RETURN node.id, count(m), max(score) ORDER BY node.id LIMIT 5",
)


def train(cache: Path) -> None:
    """Makes the start-up cache, unless it is there or another process makes it now. Takes one to two minutes."""
    if hasattr(os, "nice"):
        os.nice(19)
    target = java.startup_cache(cache, classpath(java.NEO4J, cache))
    target.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(Timeout), FileLock(target.parent / "training.lock").acquire(timeout=0.0):
        for folder in target.parent.glob("training-*"):
            ManagedServer(Settings(home=folder / "home", cache=cache)).stop(timeout_s=1.0)
            shutil.rmtree(folder, ignore_errors=True)
        if not target.exists() and shutil.disk_usage(target.parent).free > ROOM_MB << 20:
            _record(target, cache)


def _record(target: Path, cache: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="training-", dir=target.parent) as folder:
        made = Path(folder, "made.aot")
        server = ManagedServer(Settings(home=Path(folder, "home"), cache=cache, heap="1g", page_cache="64m"), record=made)
        try:
            endpoint = server.start()
            for statement in TRAINING:
                ask(endpoint, statement)
        finally:
            server.stop(timeout_s=TRAINING_TIMEOUT_S)
        if made.exists():
            made.replace(target)


if __name__ == "__main__":
    train(Path(sys.argv[1]))
