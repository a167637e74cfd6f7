"""Standards that change: a clause is replaced, and questions in the old words give what holds; an audit asks what held then.

python examples/standards.py
"""

from recall import Memory


def main() -> None:
    with Memory(namespace="example-standards") as memory:
        first = memory.remember(
            "Passwords must be changed every 90 days.",
            key="password-rotation/2021", tags=["access"], source="Security policy 3.1", created_at="2021-02-01T00:00:00Z",
        )  # fmt: skip
        memory.supersede(
            first["id"],
            "Credentials are replaced only when there is evidence of compromise.",
            key="password-rotation/2024", tags=["access"], source="Security policy 4.0", created_at="2024-06-01T00:00:00Z",
        )  # fmt: skip
        question = "how often must passwords be changed"
        for hit in memory.recall(question)["results"]:
            print(f"now:         {hit['content']} [{hit['source']}], over: {hit['path'][0]['content']}")
        for hit in memory.recall(question, as_of="2022-01-01T00:00:00Z")["results"]:
            print(f"in 2022:     {hit['content']} [{hit['source']}]")
        for layer in memory.history(first["id"])["results"]:
            until = f" (until {layer['superseded_at'][:10]})" if layer.get("superseded_at") else ""
            print(f"{layer['created_at'][:10]}:  {layer['content']}{until}")


if __name__ == "__main__":
    main()
