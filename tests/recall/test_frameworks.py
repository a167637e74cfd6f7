"""The retrievers for LangChain and neo4j-graphrag, on the real service."""

from __future__ import annotations

import asyncio

import pytest
from neo4j_graphrag.generation import GraphRAG
from neo4j_graphrag.llm import LLMInterface, LLMResponse

from recall import AsyncClient, Memory
from recall.graphrag import PalimpsestRetriever as GraphRetriever
from recall.langchain import PalimpsestRetriever

ASKED = "when do deploys happen from the release branch"


@pytest.fixture
def memory(service, ns):
    found = Memory.over(service, ns)
    old = found.remember("Deploys happen on Thursdays at ten, from the release branch.", tags=["ops"])["id"]
    found.supersede(old, "No, Tuesdays now.", tags=["ops"])
    return found


def test_documents_say_how_sure_they_are_and_how_they_were_found(memory):
    (document,) = PalimpsestRetriever(memory=memory).invoke(ASKED)
    assert document.page_content == "No, Tuesdays now."
    assert document.id == document.metadata["id"]
    assert document.metadata["relevance"] > 0.42
    assert document.metadata["path"][0]["content"].startswith("Deploys happen on Thursdays")
    judged = memory.feedback(document.id, "useful", serve_id=document.metadata["serve_id"])
    assert judged["counted"]


def test_nothing_known_is_no_document(memory):
    assert PalimpsestRetriever(memory=memory).invoke("what is the capital of Mongolia") == []


def test_k_and_options_reach_the_recall(memory):
    for n in range(4):
        memory.remember(f"Deploys of the release branch, part {n}.", tags=["other"])
    retriever = PalimpsestRetriever(memory=memory, k=2)
    assert len(retriever.invoke("deploys of the release branch")) == 2
    memory.remember("The release branch is cut on Mondays.", tags=["cut"])
    tagged = PalimpsestRetriever(memory=memory, options={"tags": ["cut"]}).invoke("when is the release branch cut")
    assert [one.page_content for one in tagged] == ["The release branch is cut on Mondays."]
    assert len(retriever.batch(["deploys of the release branch"] * 2)) == 2


def test_a_retriever_awaits_in_a_thread_or_by_an_async_client(memory):
    (document,) = asyncio.run(PalimpsestRetriever(memory=memory).ainvoke(ASKED))
    assert document.page_content == "No, Tuesdays now."
    client = AsyncClient("http://127.0.0.1:1", tries=1)
    with pytest.raises(TypeError, match="answers ainvoke alone"):
        PalimpsestRetriever(memory=client).invoke("x")
    retriever = PalimpsestRetriever(memory=memory, async_memory=client)
    with pytest.raises(Exception, match="does not answer"):
        asyncio.run(retriever.ainvoke("x"))
    asyncio.run(client.close())


def test_what_is_no_memory_is_refused():
    with pytest.raises(ValueError, match=r"must be a recall\.Memory"):
        PalimpsestRetriever(memory="memory")


class Shown(LLMInterface):
    """Gives the prompt back."""

    def invoke(self, input, *_, **__):
        return LLMResponse(content=input)

    async def ainvoke(self, input, *_, **__):
        return self.invoke(input)


def test_graphrag_gets_what_is_current(memory):
    result = GraphRetriever(memory).search(query_text=ASKED, top_k=3)
    assert [item.content for item in result.items] == ["No, Tuesdays now."]
    assert result.items[0].metadata["relevance"] > 0.42
    assert result.items[0].metadata["path"]
    assert result.metadata["abstained"] is False
    assert result.metadata["__retriever"] == "PalimpsestRetriever"
    rag = GraphRAG(GraphRetriever(memory, token_budget=500), Shown(model_name="shown"))
    answer = rag.search(ASKED, retriever_config={"top_k": 1}, return_context=True)
    assert "No, Tuesdays now." in answer.answer
    nothing = rag.search("what is the capital of Mongolia", response_fallback="Not known.", return_context=True)
    assert (nothing.answer, nothing.retriever_result.metadata["reason"]) == ("Not known.", "below_floor")


def test_the_graphrag_retriever_is_a_tool(memory):
    tool = GraphRetriever(memory).convert_to_tool(name="memory", description="What is known.")
    assert set(tool.get_parameters()["properties"]) == {"query_text", "top_k"}
    assert tool.execute(query_text=ASKED, top_k=1).items
