"""GraphRAG over a memory; needs palimpsest[graphrag].

    python examples/graphrag_answer.py

The model here only shows what it was asked; any of neo4j-graphrag's takes its place.
"""

from typing import Any

from neo4j_graphrag.generation import GraphRAG
from neo4j_graphrag.llm import LLMInterface, LLMResponse

from recall import Memory
from recall.graphrag import PalimpsestRetriever


class Shown(LLMInterface):
    """Gives the prompt back."""

    def invoke(self, input: str, *_: Any, **__: Any) -> LLMResponse:
        return LLMResponse(content=input)

    async def ainvoke(self, input: str, *_: Any, **__: Any) -> LLMResponse:
        return self.invoke(input)


def main() -> None:
    with Memory(namespace="example-graphrag") as memory:
        memory.remember("The ferry to Borkum leaves from Emden at nine.", key="ferry")
        rag = GraphRAG(PalimpsestRetriever(memory), Shown(model_name="shown"))
        asked = {"top_k": 3}
        answer = rag.search("where does the ferry to Borkum leave from", retriever_config=asked, return_context=True)
        print(answer.answer)
        print([(one.metadata["relevance"], one.content) for one in answer.retriever_result.items])
        print(rag.search("who won the chess match", response_fallback="Not known.", return_context=True).answer)


if __name__ == "__main__":
    main()
