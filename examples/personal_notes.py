"""Personal notes: dates, names and odd spellings find their note, small talk finds none, and feedback says what helped.

python examples/personal_notes.py
"""

from recall import Memory

NOTES = [
    "Ada's birthday is on 14 March; she wants the astronomy atlas.",
    "The boiler is a Vaillant ecoTEC, serial 21-0443; the fitter is Mr. Kowalczyk, 0170 555 0143.",
    "Bike lock combination is written on the inside of the garage cupboard.",
    "钢琴调音师每年九月来。",
]
QUESTIONS = ["who repairs the boiler", "21-0443", "what does Ada wish for", "钢琴", "good morning", "who won the cup"]


def main() -> None:
    with Memory(namespace="example-notes", actor="me") as memory:
        memory.remember_all({"content": note, "key": f"note-{number}"} for number, note in enumerate(NOTES))
        for question in QUESTIONS:
            found = memory.recall(question, limit=1)
            if found["results"]:
                hit = found["results"][0]
                memory.feedback(hit["id"], "useful", serve_id=found["serve_id"])
                print(f"{question:24} {hit['relevance']:.2f}  {hit['content']}")
            else:
                print(f"{question:24} nothing: {found['reason']}, the best was {found.get('best_score', 0):.2f}")


if __name__ == "__main__":
    main()
