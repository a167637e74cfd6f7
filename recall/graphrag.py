"""A neo4j-graphrag retriever over a memory; with the extra `palimpsest[graphrag]`."""

from __future__ import annotations

from typing import Any

from neo4j_graphrag.retrievers.base import Retriever
from neo4j_graphrag.types import RawSearchResult, RetrieverResultItem

from graph.store import record
from recall.asking import Asking

TOLD = ("abstained", "reason", "serve_id", "degraded", "truncated")


class PalimpsestRetriever(Retriever):
    """What answers a query and is current, best first, for `GraphRAG` and whatever else takes a retriever.

    memory: a `Memory` or a `Client`, which finds by itself: it needs no driver, no index name and no embedder.  options:
    more fields of `memory.recall`, such as `tags` or `as_of`.

    An item's content is the note's, and its metadata has `id`, `relevance` (the probability that it is a true match),
    `path` and what else the hit tells. The result's metadata says whether it `abstained`, and why.
    """

    VERIFY_NEO4J_VERSION = False  # the memory's own start does

    def __init__(self, memory: Asking[dict[str, Any]], **options: Any):
        self.memory, self.options = memory, options
        self.result_formatter = item

    def get_search_results(self, query_text: str, top_k: int = 5) -> RawSearchResult:
        """Finds what is known and current.

        Args:
            query_text: What to look for, in plain words.
            top_k: At most so many items, 1 to 200.
        """
        answer = self.memory.recall(query_text, limit=top_k, **self.options)
        told = {name: answer[name] for name in TOLD if name in answer}
        return RawSearchResult(records=[record({"hit": hit}) for hit in answer["results"]], metadata=told)


def item(found: Any) -> RetrieverResultItem:
    """A record of `get_search_results` as an item."""
    hit = dict(found["hit"])
    return RetrieverResultItem(content=hit.pop("content"), metadata=hit)
