"""`Memory` and `Client` on the real service: one set of methods, the same answers, the same errors."""

from __future__ import annotations

import asyncio
import datetime as dt

import pytest

from graph import errors
from recall import AsyncClient, Client, Memory


@pytest.fixture(params=["memory", "client"])
def memory(request, service, ns):
    if request.param == "memory":
        yield Memory.over(service, ns, actor="ada")
    else:
        with Client(request.getfixturevalue("url"), namespace=ns, actor="ada") as client:
            yield client


def test_what_is_remembered_is_recalled_until_it_is_superseded(memory):
    old = memory.remember("Deploys happen on Thursdays at ten, from the release branch.", tags=["ops"], source="wiki")
    assert old["unchanged"] is False
    asked = "when do deploys happen from the release branch"
    assert [hit["id"] for hit in memory.recall(asked, limit=3, tags=["ops"])["results"]] == [old["id"]]
    new = memory.supersede(old["id"], "No, Tuesdays now.")
    (hit,) = memory.recall(asked)["results"]
    assert (hit["id"], hit["path"][0]["id"]) == (new["id"], old["id"])
    assert [layer["id"] for layer in memory.history(new["id"])["results"]] == [old["id"], new["id"]]
    assert memory.delete(new["id"])["restored"] == [old["id"]]
    assert memory.recall("what is the capital of Mongolia")["reason"] == "below_floor"


def test_times_may_be_datetimes(memory):
    then = dt.datetime(2020, 5, 1, tzinfo=dt.UTC)
    id = memory.remember("The harbour office stands on the north quay.", created_at=then)["id"]
    assert memory.get(id)["created_at"] == "2020-05-01T00:00:00Z"
    asked = "where is the harbour office"
    assert memory.recall(asked, as_of=then - dt.timedelta(days=1))["results"] == []
    assert memory.recall(asked, as_of=then + dt.timedelta(days=1))["results"]
    items = [{"content": f"Note {n} of the batch.", "created_at": then} for n in range(2)]
    assert len(memory.remember_all(items)["results"]) == 2


def test_edges_are_drawn_seen_and_taken_away(memory):
    first, second = (memory.remember(f"Claim {n} on the tides.")["id"] for n in (1, 2))
    assert memory.link(second, "supports", first, weight=2.0)["created"]
    (near,) = memory.neighbors(second, relations=["supports"])["results"]
    assert (near["id"], near["weight"]) == (first, 2.0)
    memory.unlink(second, "supports", first)
    assert memory.neighbors(second, relations=["supports"])["results"] == []


def test_a_field_is_taken_away_by_none(memory):
    id = memory.remember("The gate code is 4711.", source="paper")["id"]
    assert "source" not in memory.update(id, source=None, tags=["gate"])
    assert memory.get(id)["tags"] == ["gate"]


def test_feedback_and_a_context(memory):
    memory.remember("Deploys happen on Thursdays at ten, from the release branch.")
    found = memory.recall("when do deploys happen from the release branch")
    assert memory.feedback(found["results"][0]["id"], "useful", serve_id=found["serve_id"])["counted"]
    task = memory.start_task("Plan the next deploy from the release branch", conversation="c")["id"]
    memory.add_turn(task, "user", "Mind the holiday.")
    built = memory.build(task, window=4000)
    assert [block["name"] for block in built["blocks"]] == ["user", "memory"]
    assert memory.select("Plan the next deploy from the release branch", budget=500)["selected_count"] == 1
    assert memory.complete_task(task)["status"] == "completed"


def test_any_other_verb_goes_by_its_name(memory):
    id = memory.call("kg.create", {"kind": "project", "content": "Aurora"})["id"]
    assert memory.call("kg.traverse", {"id": id})["nodes"] == []
    with pytest.raises(errors.PalimpsestError):
        memory.call("kg.dream", {})


def test_errors_are_the_classes_of_the_tree(memory):
    id = memory.remember("The staging port is 5432.", key="staging")["id"]
    with pytest.raises(errors.KeyInUse) as held:
        memory.remember("The staging port is 5433.", key="staging")
    assert held.value.existing_id == id
    with pytest.raises(errors.ValidationFailed) as wrong:
        memory.recall("x", limit=0)
    assert wrong.value.errors == [{"field": "limit", "message": "must be from 1 to 200"}]
    with pytest.raises(errors.NotFound) as missing:
        memory.get("no-such")
    assert missing.value.field == "id"
    with pytest.raises(errors.NotAllowed) as refused:
        memory.link(id, "part_of", memory.remember("Another.")["id"])
    assert "supports" in refused.value.allowed
    newer = memory.supersede(id, "The staging port is 5433.")["id"]
    with pytest.raises(errors.SupersessionCycle) as circle:
        memory.link(id, "supersedes", newer)
    assert set(circle.value.chain) == {id, newer}
    task = memory.start_task("One", conversation="c")["id"]
    with pytest.raises(errors.TaskActive) as active:
        memory.start_task("Two", conversation="c")
    assert active.value.existing_id == task


def test_superseding_nothing_is_an_error(memory):
    with pytest.raises(errors.ValidationFailed, match="must name one note or more"):
        memory.supersede([], "x")


def test_namespaces_are_apart(service, ns):
    memory = Memory.over(service, ns)
    memory.remember("The vault's number is nine.")
    assert memory.recall("the vault's number")["results"]
    assert memory.within(f"{ns}-other").recall("the vault's number")["results"] == []
    with pytest.raises(errors.ValidationFailed, match="namespace"):
        Memory.over(service, "a b")


def test_a_memory_over_a_service_leaves_it_open(service, ns):
    with Memory.over(service, ns) as memory:
        memory.remember("x is y.")
    assert service.store.ready()


def test_the_same_methods_await(url, ns):
    async def work():
        async with AsyncClient(url, namespace=ns) as client:
            ids = await asyncio.gather(*(client.remember(f"Ship {n} has {n} masts.") for n in range(4)))
            new = await client.supersede(ids[1]["id"], "Ship 1 lost its mast.")
            with pytest.raises(errors.NotFound):
                await client.get("no-such")
            return new["id"], [hit["id"] for hit in (await client.recall("how many masts has ship 1"))["results"]]

    new, found = asyncio.run(work())
    assert new in found
