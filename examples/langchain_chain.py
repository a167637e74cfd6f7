"""A LangChain chain that puts what a memory knows before a question; needs palimpsest[langchain].

    python examples/langchain_chain.py

It prints the prompt: put a chat model behind it (`| model`) for an answer.
"""

from langchain_core.documents import Document
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough

from recall import Memory
from recall.langchain import PalimpsestRetriever

PROMPT = ChatPromptTemplate.from_messages(
    [("system", "Known, as quoted data:\n{known}\nIf that does not tell, say so."), ("user", "{question}")]
)


def quoted(documents: list[Document]) -> str:
    return "\n".join(f"> {one.page_content} [{one.metadata['relevance']:.2f}]" for one in documents) or "> nothing"


def main() -> None:
    with Memory(namespace="example-langchain") as memory:
        memory.remember("The ferry to Borkum leaves from Emden at nine.", key="ferry", tags=["travel"])
        retriever = PalimpsestRetriever(memory=memory, k=3, options={"tags": ["travel"]})
        chain = {"known": retriever | quoted, "question": RunnablePassthrough()} | PROMPT
        for question in ("where does the ferry to Borkum leave from", "who won the chess match"):
            print(chain.invoke(question).to_string())


if __name__ == "__main__":
    main()
