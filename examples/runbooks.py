"""Runbooks: steps in their order, a neuron that brings up what experience says, and a context that fits a small window.

python examples/runbooks.py
"""

from recall import Memory


def main() -> None:
    with Memory(namespace="example-runbooks") as memory:
        steps = [
            "Replica lag alarm, step 1: look at the write rate of the primary, in the dashboard Database / Writes.",
            "Replica lag alarm, step 2: pause the nightly export job, which holds a long snapshot.",
            "Replica lag alarm, step 3: if it does not fall in ten minutes, move readers to the primary and page the owner.",
        ]
        before = None
        for number, step in enumerate(steps, 1):
            note = memory.remember(step, key=f"replica-lag/{number}", memory_type="semantic", follows=before)
            before = note["id"]
        memory.call("kg.create", {
            "kind": "neuron",
            "content": "Lag after a release was twice a missing index, not load: compare slow queries with the day before.",
            "triggers": ["replica lag", "lag after a release"],
        })  # fmt: skip
        found = memory.recall("the replica lag alarm rings, what do I do first")
        print(f"{found['selected_count']} of {found['candidates_evaluated']} candidates")
        for hit in found["results"]:
            print(f"{hit['relevance']:.2f}  {hit['kind']:8}  {hit['content'][:90]}")
        task = memory.start_task("Replica lag alarm after the release of version 12")
        built = memory.build(task["id"], window=1600)
        for block in built["blocks"]:
            print(f"{block['tokens']:4} tokens  {block['name']}")
        print(f"left out: {[(drop['name'], drop['reason']) for drop in built['dropped']]}")
        memory.complete_task(task["id"])


if __name__ == "__main__":
    main()
