"""A memory in this process: what changes supersedes what was, and nothing is told that is not known.

python examples/memory.py
"""

from recall import Memory


def main() -> None:
    with Memory(namespace="example-memory") as memory:
        old = memory.remember("Deploys happen on Thursdays at ten, from the release branch.", key="deploys")
        memory.supersede(old["id"], "No, Tuesdays now.")
        found = memory.recall("when do deploys happen from the release branch")
        for hit in found["results"]:
            print(f"{hit['content']} (found by: {hit['path'][0]['content']})")
        if found["results"]:
            memory.feedback(found["results"][0]["id"], "useful", serve_id=found["serve_id"])
        print([layer["content"] for layer in memory.history(old["id"])["results"]])
        print(memory.recall("what is the capital of Mongolia")["reason"])


if __name__ == "__main__":
    main()
