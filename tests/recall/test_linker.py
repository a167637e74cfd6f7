"""The linker: notes are linked to the entities that they name, by the form of a name and by the names that are known."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Set
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from graph import kg, mentions
from graph.errors import NotAllowed
from graph.mentions import KnownNames
from graph.ontology import ENTITY_KINDS, TABLE, relation_type
from graph.packs import Dispatcher, Pack, Runtime
from graph.records import Draft
from graph.writing import Request, Writer, store_together
from recall.linker import BY_FORM, MENTIONS, NameLinker, is_usual, is_weak, linker
from recall.memory import pack as memory_pack
from tests.conftest import Caller


@pytest.fixture
def read(service) -> Callable[..., list[str]]:
    """Keys of the names that a text mentions, given those that are known."""
    own = NameLinker(service.dispatcher.runtime.indexer)

    def among(text: str, *known: str) -> list[str]:
        return [name["name_key"] for name in own.read(text).among(set(known))]

    return among


@pytest.fixture
def mentioned(call) -> Callable[[str], dict[str, str]]:
    """What a note mentions: each entity's content and kind."""

    def by(id: str, of: Caller = call) -> dict[str, str]:
        rows = of("kg.neighbors", id=id, relations=["mentions"], limit=100)["results"]
        return {row["content"]: row["kind"] for row in rows}

    return by


@pytest.fixture
def entity(call) -> Callable[..., str]:
    def made(name: str, kind: str = "person") -> str:
        return str(call("kg.create", label="Entity", kind=kind, content=name)["id"])

    return made


def mentioning(call, id: str) -> set[str]:
    """Ids of the notes that mention an entity."""
    return {row["id"] for row in call("kg.neighbors", id=id, relations=["mentions"], direction="in", limit=1000)["results"]}


# what a text names


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("Rule ADR-0172: Marta Olsen met Rowan.", ["adr 0172", "marta olsen", "rowan"]),
        ("[8 May 2023] Melanie: I read “The Hidden Garden” to them", ["melanie", "hidden garden"]),
        ("Bye Joanna! That was lovely, Joanna.", ["joanna"]),
        ("we walked home", []),
        ("The Who and The The", []),
        ("On Monday it rained. Yes. Thanks!", []),
        ("In 1984 and 2023", []),
    ],
)
def test_a_proper_name_is_known_by_its_form(read, text, keys):
    assert read(text) == keys


@pytest.mark.parametrize(
    ("text", "known", "keys"),
    [
        ("i asked marta olsen", "marta olsen", ["marta olsen"]),
        ("MARTA OLSEN’S key", "marta olsen", ["marta olsen"]),
        ("Crème brûlée for two", "creme brulee", ["creme brulee"]),
        ("the tide-gauge reads low", "tide gauge", ["tide gauge"]),
        ("请问钢琴室在哪里", "钢琴室", ["钢琴室"]),
        ("ไปตลาดน้ำอัมพวากัน", "อัมพวา", ["อัมพวา"]),
        ("martha olsen", "marta olsen", []),
        ("the smartaolsens", "marta olsen", []),
    ],
)
def test_a_known_name_is_found_in_whatever_form_it_stands(read, text, known, keys):
    assert read(text, known, "someone else") == keys


@pytest.mark.parametrize("word", ["the", "thanks", "garden", "time", "7", "2024", "x", "of the"])
def test_a_word_that_everybody_uses_names_nothing(read, word):
    assert read(f"he said {word} again", word) == []
    assert is_weak(word)


def test_a_usual_name_is_no_common_word(read):
    assert read("we moved to london with john", "london", "john") == ["london", "john"]


def test_of_names_within_each_other_the_longest_counts(read):
    assert read("met Marta Olsen", "marta", "olsen", "marta olsen") == ["marta olsen"]
    assert read("the harbour choir society sang", "harbour choir", "harbour choir society") == ["harbour choir society"]
    assert read("请问钢琴室在哪里", "钢琴", "钢琴室") == ["钢琴室"]
    assert read("They saw Smarta and Marta", "marta") == ["smarta", "marta"]
    assert read("marta olsen, then marta and olsen", "marta", "marta olsen") == ["marta olsen", "marta"]
    assert read("We heard the Beatles", "the beatles") == ["the beatles"]
    assert read("[noon] Jon: they shouted: Go Jon!", "jon", "go jon") == ["jon", "go jon"], "Jon stands by himself too"


def test_names_of_a_note_are_bounded(read):
    known = [f"name{n} of{n}" for n in range(200)]
    assert len(read(" ".join(known), *known)) == MENTIONS
    assert len(read(". ".join(f"we met Aber{chr(97 + n)}x Olsen" for n in range(26)))) == BY_FORM


def test_the_order_of_names_does_not_hang_on_chance():
    """Sets of strings have another order in another process."""
    code = (
        "from recall.linker import Reading\n"
        "known = {'ada lin', 'bo li', 'cy wu', 'di xu'}\n"
        "print([name['name_key'] for name in Reading((), 'di xu and cy wu met bo li and ada lin', '').among(known)])"
    )
    run = [sys.executable, "-c", code]
    told = {subprocess.check_output(run, env=os.environ | {"PYTHONHASHSEED": str(seed)}) for seed in range(4)}
    assert told == {b"['ada lin', 'bo li', 'cy wu', 'di xu']\n"}


# what is stored


def test_a_note_is_linked_to_new_entities_by_the_form_of_their_names(call, mentioned):
    id = call.note("Rule ADR-0172: Marta Olsen met Rowan.")
    assert mentioned(id) == dict.fromkeys(["ADR-0172", "Marta Olsen", "Rowan"], "concept")
    assert sorted(call("memory.remember", content="x")) == ["id", "unchanged"], "the answer stays as it is"


@pytest.mark.parametrize(
    "fields", [{"label": "Neuron"}, {"kind": "abstraction"}, {"kind": "knowledge"}, {"kind": "document"}]
)
def test_every_recallable_node_is_linked(call, mentioned, fields):
    assert mentioned(call("kg.create", content="We asked Marta Olsen", **fields)["id"]) == {"Marta Olsen": "concept"}


def test_an_entity_of_another_kind_is_linked_and_no_second_one_made(call, mentioned, entity):
    person = entity("Marta Olsen")
    by_form, by_caller = call.note("We asked Marta Olsen"), call.note("we asked her", entities=["marta  OLSEN"])
    assert mentioned(by_form) == mentioned(by_caller) == {"Marta Olsen": "person"}
    assert [node["id"] for node in call("kg.list", label="Entity")["results"]] == [person]


def test_of_several_entities_of_a_name_that_which_is_no_mere_concept_is_linked(call, mentioned, entity):
    for kind in ("concept", "org", "person"):
        entity("Rowan", kind)
    assert mentioned(call.note("We asked Rowan")) == {"Rowan": "org"}


def test_known_names_are_linked_in_small_letters_and_without_spaces(call, mentioned, entity):
    entity("Marta Olsen")
    entity("钢琴室", "concept")
    assert mentioned(call.note("i asked marta olsen about it")) == {"Marta Olsen": "person"}
    assert mentioned(call.note("请问钢琴室在哪里")) == {"钢琴室": "concept"}
    assert mentioned(call.note("nobody asked")) == {}


def test_a_name_that_a_note_brings_up_is_known_to_the_next(call, mentioned):
    call.note("We asked Rowan about ADR-0172")
    assert mentioned(call.note("then rowan read adr-0172")) == {"Rowan": "concept", "ADR-0172": "concept"}


def test_a_word_that_only_a_capital_made_a_name_is_none_in_small_letters_until_somebody_says_so(call, mentioned, entity):
    assert is_usual("dance")
    assert mentioned(call.note("They went to see Dance on Sunday")) == {"Dance": "concept"}
    assert mentioned(call.note("they dance well")) == {}
    entity("Dance", "concept")
    assert mentioned(call.note("they dance well")) == {"Dance": "concept"}
    assert mentioned(call.note("he wrote about Pride")) == {"Pride": "concept"}
    call.note("x", entities=["Pride"])
    assert mentioned(call.note("he took pride in it")) == {"Pride": "concept"}


def test_entities_of_the_same_batch_are_known_to_its_notes(call, mentioned):
    items = [{"kind": "memory", "content": "i asked marta olsen"}, {"kind": "person", "content": "Marta Olsen"}]
    note, person = (result["id"] for result in call("kg.create", items=items)["results"])
    assert mentioned(note) == {"Marta Olsen": "person"}
    assert mentioning(call, person) == {note}


def test_notes_from_before_are_linked_when_an_entity_is_made(call, entity, monkeypatch, service):
    naming = [call.note("i asked marta olsen"), call.note("MARTA OLSEN’S key"), call.note("请问钢琴室在哪里")]
    call.note("olsen asked marta")
    call.within(f"{call.ns}.other").note("i asked marta olsen")
    monkeypatch.setattr(service.dispatcher.runtime.indexer.embedder, "max_tokens", 48)
    long = call.note(" ".join(f"Sentence {n} tells of the heron." for n in range(40)) + " Then marta olsen came.")
    assert mentioning(call, entity("Marta Olsen")) == {*naming[:2], long}
    assert mentioning(call, entity("钢琴室", "concept")) == {naming[2]}
    call.note("in the garden")
    assert mentioning(call, entity("Garden", "concept")) == set(), "a common word"


def test_not_more_notes_from_before_are_linked_than_a_transaction_should_bear(call, entity, monkeypatch):
    monkeypatch.setattr(mentions, "LOOK_BACK", 3)
    call("memory.remember", items=[{"content": f"marta olsen {n}"} for n in range(5)])
    assert len(mentioning(call, entity("Marta Olsen"))) == 3


def test_a_deleted_note_is_linked_to_nothing_and_its_entities_stay(call, mentioned, entity):
    gone, kept = call.note("We asked Marta Olsen"), call.note("Marta Olsen was not asked by Rowan")
    call("kg.delete", id=gone)
    (person,) = [node["id"] for node in call("kg.list", label="Entity")["results"] if node["content"] == "Marta Olsen"]
    assert mentioning(call, person) == {kept}
    call("kg.delete", id=person)
    assert mentioned(kept) == {"Rowan": "concept"}
    assert mentioned(call.note("marta olsen again")) == {}, "a deleted name is known no more"
    assert mentioned(call.note("We asked Marta Olsen again")) == {"Marta Olsen": "concept"}


def test_a_note_that_is_there_already_is_not_linked_again(call, by_hand):
    for _ in range(2):
        call.note("We asked Marta Olsen", key="k")
    assert by_hand("MATCH (:Note {ns: $ns})-[r:MENTIONS]->() RETURN count(r) AS n") == [{"n": 1}]


# updates, and edges that callers asked for


def test_changed_content_is_linked_anew(call, mentioned, entity):
    entity("Harbour Choir", "org")
    id = call.note("We asked Marta Olsen")
    call("kg.update", id=id, content="They and Rowan joined the harbour choir")
    assert mentioned(id) == {"Rowan": "concept", "Harbour Choir": "org"}
    call("kg.update", id=id, salience=0.9)
    assert mentioned(id) == {"Rowan": "concept", "Harbour Choir": "org"}
    call("kg.update", id=id, content="nobody did")
    assert mentioned(id) == {}


def test_edges_that_a_caller_asked_for_stay(call, mentioned, entity):
    id = call.note("Marta Olsen met Rowan", entities=["Marta Olsen", "Ben"])
    rowan = next(row["id"] for row in call("kg.neighbors", id=id)["results"] if row["content"] == "Rowan")
    call("kg.link", source=id, target=rowan, relation="mentions", weight=2)
    call("kg.link", source=id, target=entity("Ida"), relation="mentions")
    call("kg.update", id=id, content="They met")
    assert set(mentioned(id)) == {"Marta Olsen", "Ben", "Rowan", "Ida"}
    call("kg.update", id=id, content="Marta Olsen met Kira")
    call("kg.update", id=id, content="They met")
    assert set(mentioned(id)) == {"Marta Olsen", "Ben", "Rowan", "Ida"}
    call("kg.unlink", source=id, target=rowan, relation="mentions")
    assert set(mentioned(id)) == {"Marta Olsen", "Ben", "Ida"}


def test_an_edge_says_who_drew_it(call, by_hand):
    call.note("Marta Olsen met Rowan", entities=["Marta Olsen"])
    rows = by_hand("MATCH (:Note {ns: $ns})-[r:MENTIONS]->(e) RETURN e.content AS name, r.by AS by ORDER BY name")
    assert rows == [{"name": "Marta Olsen", "by": None}, {"name": "Rowan", "by": "linker"}]


def test_a_renamed_entity_is_known_by_its_new_name_and_keeps_its_notes(call, mentioned, entity):
    person = entity("Marta Olsen")
    old, new = call.note("We asked Marta Olsen"), call.note("we asked marta berg")
    call("kg.update", id=person, content="Marta Berg")
    assert mentioned(old) == mentioned(new) == mentioned(call.note("ask marta berg")) == {"Marta Berg": "person"}


def test_an_entity_mentions_nothing(call):
    with pytest.raises(NotAllowed, match="mentions") as error:
        call("kg.create", kind="person", content="Marta", entities=["Rowan"])
    assert error.value.field == "entities"
    assert call("kg.list")["results"] == []


# namespaces and several writers


def test_names_of_another_namespace_are_not_known(call, mentioned, entity, by_hand):
    entity("Marta Olsen")
    other = call.within(f"{call.ns}.other")
    assert mentioned(other.note("i asked marta olsen"), other) == {}
    assert mentioned(other.note("I asked Marta Olsen"), other) == {"Marta Olsen": "concept"}
    assert by_hand("MATCH (n {ns: $ns})-[r]-(m) WHERE m.ns <> $ns RETURN r") == []


def test_sixteen_writers_of_one_name_make_one_entity(call, by_hand):
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda n: call.note(f"Marta Olsen met Rowan at {n}"), range(48)))
    rows = by_hand("MATCH (e:Entity {ns: $ns})<-[r:MENTIONS]-() RETURN e.content AS name, count(r) AS n ORDER BY name")
    assert rows == [{"name": "Marta Olsen", "n": 48}, {"name": "Rowan", "n": 48}]


@pytest.fixture
def draft(service) -> Callable[[str], Draft]:
    indexer = service.dispatcher.runtime.indexer
    own = NameLinker(indexer)

    def made(content: str) -> Draft:
        return Draft(
            label="Note", kind="memory", content=content, indexed=indexer.index([content])[0], reading=own.read(content)
        )

    return made


def test_what_one_process_names_the_next_write_of_another_knows(store, call, draft, mentioned):
    """Each writer has its own names, as each process has."""
    writers = [Writer(store) for _ in range(3)]
    try:
        for writer in writers:
            writer.store(call.ns, [draft("nothing yet")])
        for round in range(6):
            writers[round % 3].store(call.ns, [draft(f"We met Rowan{round} Berg")])
            other = writers[(round + 1) % 3]
            (stored,) = other.store(call.ns, [draft(f"then rowan{round} berg came")])
            assert mentioned(stored.id) == {f"Rowan{round} Berg": "concept"}
        with ThreadPoolExecutor(6) as pool:
            works = [(writer, n) for n in range(8) for writer in writers]
            list(pool.map(lambda work: work[0].store(call.ns, [draft(f"Kira Lund{work[1]} came")]), works))
    finally:
        for writer in writers:
            writer.close()
    names = [node["content"] for node in call("kg.list", label="Entity", limit=100)["results"]]
    assert sorted(names) == sorted({*(f"Rowan{n} Berg" for n in range(6)), *(f"Kira Lund{n}" for n in range(8))})


def test_a_transaction_that_fails_leaves_no_name_behind(store, call, draft, mentioned):
    known = KnownNames()

    class Undone(Exception):
        pass

    def undone(tx: Any) -> None:
        store_together(tx, [Request(call.ns, [draft("We met Kira Lund")])], known)
        raise Undone

    with pytest.raises(Undone):
        store.write(undone)
    call.note("Then came Rowan Berg")  # by another writer, whose turn has the number that came to nothing
    request = Request(call.ns, [draft("kira lund and rowan berg")])
    ((stored,),), _ = store.write(lambda tx: store_together(tx, [request], known))
    assert mentioned(stored.id) == {"Rowan Berg": "concept"}


def test_a_namespace_with_too_many_names_is_linked_by_form_alone(store, call, draft, mentioned):
    known = KnownNames(most=3)
    note = lambda text: store.write(lambda tx: store_together(tx, [Request(call.ns, [draft(text)])], known))[0][0][0].id  # noqa: E731
    note("Ada Lund, Bo Lund and Cy Lund")
    assert mentioned(note("ada lund")) == {"Ada Lund": "concept"}
    note("Di Lund")
    assert mentioned(note("ada lund")) == mentioned(note("ada lund")) == {}
    assert mentioned(note("We met Ada Lund")) == {"Ada Lund": "concept"}


def test_names_in_memory_are_bounded(store, call, draft, monkeypatch):
    monkeypatch.setattr(mentions, "HELD_NAMESPACES", 2)
    known = KnownNames()
    spaces = [f"{call.ns}.{n}" for n in range(4)]
    for ns in [*spaces, spaces[0]]:
        store.write(lambda tx, ns=ns: store_together(tx, [Request(ns, [draft("We met Ada Lund")])], known))
    assert list(known._held) == [spaces[3], spaces[0]]
    assert known._held[spaces[0]][1] == {"ada lund"}


# off, replaced


@pytest.fixture
def opened(service) -> Iterator[Callable[..., Caller]]:
    """Calls in a dispatcher of its own on the same store, with another linker."""
    dispatchers: list[Dispatcher] = []

    def made(ns: str, own: Any, *packs: Pack) -> Caller:
        shared = service.dispatcher.runtime
        runtime = Runtime(store=shared.store, indexer=shared.indexer, linker=own, options=shared.options)
        dispatchers.append(Dispatcher(runtime, [kg.pack, memory_pack, *packs]))
        return Caller(dispatchers[-1], ns)

    yield made
    for dispatcher in dispatchers:
        dispatcher.close()


def test_off_draws_no_edge_that_nobody_asked_for(call, opened, mentioned, service):
    indexer = service.dispatcher.runtime.indexer
    assert linker("off", indexer) is None
    assert isinstance(linker("names", indexer), NameLinker)
    off = opened(call.ns, None)
    before = call.note("We asked Marta Olsen")
    assert mentioned(off.note("Rowan asked Marta Olsen")) == {}
    assert mentioned(off.note("They asked", entities=["Marta Olsen"])) == {"Marta Olsen": "concept"}
    off("kg.create", kind="person", content="Rowan")
    off("kg.update", id=before, content="We asked Kira Lund")
    assert mentioned(before) == {}, "what the old content named"
    assert len(call("kg.list", label="Entity")["results"]) == 2


class Tagged:
    """What stands after hash signs in a text."""

    def __init__(self, content: str):
        self.words = [word[1:] for word in content.split() if word.startswith("#")]

    def among(self, known: Set[str]) -> list[Mapping[str, str]]:
        return [{"name_key": word.lower(), "name": word, "terms": word.lower()} for word in self.words]


class Tagger:
    """A linker that goes by hash signs."""

    read = staticmethod(Tagged)

    def query(self, ns: str, name: str) -> None:
        return None


def test_a_pack_may_bring_a_linker_of_its_own(call, opened, mentioned):
    def takes_over(runtime: Runtime) -> None:
        runtime.linker = Tagger()

    own = opened(call.ns, None, Pack(name="tags", verbs=(), requires=("kg",), open=takes_over))
    assert mentioned(own.note("Rowan likes #Harbour")) == {"Harbour": "concept"}


# recall


def test_a_query_that_names_an_entity_walks_to_the_notes_that_name_it(call, entity):
    entity("Marta Olsen")
    id = call.note("i gave the key to marta olsen")
    hits = call("memory.recall", query="What about Marta Olsen?", min_score=0)["results"]
    assert [(hit["id"], hit["path"]) for hit in hits] == [(id, [{"leg": "walk", "by": "Marta Olsen mentions"}])]


def test_names_that_few_notes_bear_lead_first_where_others_are_everywhere(call):
    items = [{"content": f"Number {n} came", "entities": ["Quay", "Pier"]} for n in range(250)]
    call("memory.remember", items=items)
    rare = call.note("it rained hard", entities=["Sexton"])
    (hit, *_) = call("memory.recall", query="it rained hard at Quay, Pier, Sexton", min_score=0)["results"]
    assert (hit["id"], hit["path"]) == (rare, [{"leg": "walk", "by": "Sexton mentions"}])


def test_the_second_hop_knows_every_relation_between_entities(store):
    text = store.statements["recall.candidates"].text
    (named,) = re.findall(r"\(e\)-\[r:([A-Z_|\s]+)\]-\(m\)", text)
    entities = {*ENTITY_KINDS, "entity"}
    between = {name for name, rules in TABLE.items() if any(left & entities and right & entities for left, right in rules)}
    assert set(re.split(r"\|", re.sub(r"\s", "", named))) == {relation_type(name) for name in between}
