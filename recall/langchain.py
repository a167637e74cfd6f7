"""A LangChain retriever over a memory; with the extra `palimpsest[langchain]`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import Field, model_validator

from recall.asking import Asking
from recall.client import AsyncClient

METADATA = (
    *("relevance", "score", "kind", "memory_type", "created_at", "tags", "key", "source"),
    *("sources", "path", "serve_id", "superseded", "superseded_at", "cut"),
)


class PalimpsestRetriever(BaseRetriever):
    """Documents that answer a query and are current, best first; none where nothing fits.

    memory: a `Memory`, `Client` or, for `ainvoke` alone, an `AsyncClient`; beside a sync one `async_memory` may be given,
    else `ainvoke` runs the sync one in a thread.  k: at most so many documents, 1 to 200.  options: more fields of
    `memory.recall`, such as `tags` or `as_of`.

    A document's `id` is the note's, and its metadata has `relevance` (the probability that it is a true match), `path` (by
    what it was found), `serve_id` (for `feedback`) and what else the hit tells.
    """

    memory: Any
    async_memory: Any = None
    k: int = Field(default=10, ge=1, le=200)
    options: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _asks(self) -> PalimpsestRetriever:
        if not isinstance(self.memory, Asking):
            raise ValueError("memory must be a recall.Memory, Client or AsyncClient")
        if self.async_memory is None and isinstance(self.memory, AsyncClient):
            self.async_memory = self.memory
        return self

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        if isinstance(self.memory, AsyncClient):
            raise TypeError("an AsyncClient answers ainvoke alone; give a Client or a Memory for invoke")
        return documents(self.memory.recall(query, limit=self.k, **self.options))

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        if self.async_memory is None:
            return await super()._aget_relevant_documents(query, run_manager=run_manager)
        return documents(await self.async_memory.recall(query, limit=self.k, **self.options))


def documents(answer: Mapping[str, Any]) -> list[Document]:
    """The hits of a recall as documents."""
    return [Document(id=hit["id"], page_content=hit["content"], metadata=metadata(hit, answer)) for hit in answer["results"]]


def metadata(hit: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, Any]:
    """What a hit tells beside its content, without what says nothing."""
    found = {"id": hit["id"], "serve_id": answer.get("serve_id")} | {name: hit.get(name) for name in METADATA}
    return {name: value for name, value in found.items() if value not in (None, [], {})}
