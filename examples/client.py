"""The service over HTTP, waited for and with asyncio.

palimpsest serve &
python examples/client.py
"""

import asyncio

from graph.errors import KeyInUse
from recall import AsyncClient, Client


def main() -> None:
    with Client(namespace="example-client") as client:
        kept = client.remember("The staging database listens on port 5432.", key="staging-db")
        try:
            client.remember("The staging database listens on port 5433.", key="staging-db")
        except KeyInUse as held:
            new = client.supersede(held.existing_id, "The staging database listens on port 5433.", key="staging-db")
            print(kept["id"] == held.existing_id, client.get(new["id"])["content"])
    print(asyncio.run(several()))


async def several() -> list[int]:
    queries = ["which port has the staging database", "what is the capital of Mongolia"]
    async with AsyncClient(namespace="example-client") as client:
        answers = await asyncio.gather(*(client.recall(query) for query in queries))
    return [len(answer["results"]) for answer in answers]


if __name__ == "__main__":
    main()
