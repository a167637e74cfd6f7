"""A second model beside the first: texts in other scripts get its vector too, and queries in them are asked of it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from graph import models
from graph.settings import Settings
from graph.slots import MULTILINGUAL
from recall.embed import HASHING_NAME, MULTILINGUAL_NAME, QueryCache, embedder
from recall.extras import MultilingualE5
from recall.models import TEXT_SHARE, beside
from recall.service import Service, open_service
from recall.text import non_ascii_letter_share
from tests.conftest import Caller

BIRTHDAY, ASKED = "妈妈的生日是五月三号。", "母亲哪天出生？"  # the same matter, no pair of characters in common


@pytest.fixture(scope="module")
def both(service: Service) -> Iterator[Service]:
    """The session's server, with the multilingual model beside the hashing one."""
    opened = open_service(replace(service.settings, multilingual="auto"))
    yield opened
    opened.close()
    (held,) = [model for model in models.stored(service.store) if model.slot is MULTILINGUAL]
    models.forget(service.store, held)


@pytest.fixture
def ask(both: Service, ns: str) -> Caller:
    return Caller(both.dispatcher, ns)


@pytest.fixture(scope="module")
def nano() -> MultilingualE5:
    return MultilingualE5()


def test_a_paraphrase_without_a_common_bigram_is_found_by_meaning(ask, call):
    id = ask.note(BIRTHDAY)
    for other in ("服务器的登录口令保存在密码管理器里。", "He parks the van behind the bakery."):
        ask.note(other)
    answer = ask("memory.recall", query=ASKED)
    assert [hit["id"] for hit in answer["results"]] == [id]
    assert answer["results"][0]["sources"] == ["vector"]
    assert call("memory.recall", query=ASKED)["results"] == [], "without the model there are only words"


@pytest.mark.parametrize(
    ("note", "query"),
    [
        ("เลื่อนประชุมเป็นเช้าวันพฤหัสบดี", "นัดหมายครั้งหน้าเมื่อไหร่"),
        ("本番データベースを新しいサーバーへ移した。", "プロダクションのＤＢは今どこにある？"),
        ("그녀는 갈색 고양이를 키운다.", "반려동물은 무엇인가요"),
        ("Она держит рыжего кота.", "какой у неё питомец"),
    ],
)
def test_the_nearest_meaning_comes_first_in_other_scripts(ask, note, query):
    id = ask.note(note)
    for other in (
        "The wharf closes at six.",
        "周末我常去河边跑步。",
        "Рабочую базу перенесли на новый сервер.",
        "倉庫の鍵は箱の中。",
    ):
        ask.note(other)
    assert ask.found(query, fusion="vector_only")[0] == id


def test_only_texts_in_other_scripts_get_the_second_vector(ask, by_hand, monkeypatch):
    ids = [ask.note(text) for text in ("plain English", "Müllers Café in der Straße", BIRTHDAY)]
    rows = by_hand(
        "MATCH (n:Note {ns: $ns}) RETURN n.id AS id, n.embedding_multilingual IS NOT NULL AS has, n.embedding AS own"
    )
    assert {row["id"]: row["has"] for row in rows} == dict(zip(ids, (False, False, True), strict=True))
    assert all(row["own"] is not None for row in rows)
    indexer = ask.dispatcher.runtime.indexer
    monkeypatch.setattr(indexer, "models", replace(indexer.models, every_text=True))
    id = ask.note("plain English too")
    (row,) = by_hand("MATCH (n {ns: $ns, id: $id}) RETURN properties(n) AS held", id=id)
    assert row["held"]["embedding_model_multilingual"] == MULTILINGUAL_NAME
    assert len(row["held"]["vector_multilingual"]) == 384


def test_no_answer_is_empty_only_because_notes_lack_the_vector(ask):
    id = ask.note("The 钢琴室 is on the second floor of the library, behind the reading room")
    answer = ask("memory.recall", query="钢琴室")
    assert [hit["id"] for hit in answer["results"]] == [id]
    assert answer["degraded"] == []


def test_passages_get_the_second_vector_as_notes_do(ask, by_hand, monkeypatch):
    monkeypatch.setattr(ask.dispatcher.runtime.indexer.embedder, "max_tokens", 48)
    ask.note("English stays. " * 9 + "钢琴室在图书馆二楼。" * 8)
    rows = by_hand("MATCH (p:Passage {ns: $ns}) RETURN p.content AS text, p.embedding_multilingual IS NOT NULL AS has")
    assert {row["has"] for row in rows} == {True, False}
    assert all(row["has"] == (non_ascii_letter_share(row["text"]) > TEXT_SHARE) for row in rows)


LONG = "".join(f"第{n}号仓库存放木材和绳索，由老王看管，每周五清点一次。" for n in range(120))


def lacking(by_hand) -> int:
    (row,) = by_hand("MATCH (p:Passage {ns: $ns}) WHERE p.embedding_multilingual IS NULL RETURN count(p) AS n")
    return row["n"]


def test_a_long_text_is_answered_before_the_slow_model_has_read_it(ask, both, by_hand, monkeypatch):
    monkeypatch.setattr(ask.dispatcher.runtime.indexer.embedder, "max_tokens", 128)
    text = LONG + BIRTHDAY
    monkeypatch.setattr(both.filler, "_ended", threading.Event())
    both.filler._ended.set()
    ids = [row["id"] for row in ask("memory.remember", items=[{"content": text}, {"content": LONG}])["results"]]
    both.filler.join()
    assert lacking(by_hand) > 5
    assert ask.found("老王看管的绳索", min_score=0), "its words are searchable at once"
    both.filler._ended.clear()
    ask("kg.update", id=ids[1], content=LONG[::-1])
    both.filler.join()
    left = lacking(by_hand)
    assert left > 0, "only the note that was changed is read"
    both.filler.later(ask.ns, [ids[0]])
    both.filler.join()
    assert lacking(by_hand) == 0
    assert ask.found(ASKED, fusion="vector_only", min_score=0)[0] == ids[0]
    assert {model.state for model in models.stored(both.store)} == {"ready"}


def test_a_service_that_starts_reads_what_the_one_before_left(ask, both, service, by_hand, monkeypatch):
    monkeypatch.setattr(ask.dispatcher.runtime.indexer.embedder, "max_tokens", 128)
    (held,) = [model for model in models.stored(both.store) if model.slot is MULTILINGUAL]
    monkeypatch.setattr(both.dispatcher.runtime, "unread", lambda _ns, _ids: models.mark(both.store, held, "filling"))
    ask.note(LONG[:1500] + BIRTHDAY + LONG[1500:3500])
    assert lacking(by_hand) > 0
    following = open_service(replace(service.settings, multilingual="auto"))
    try:
        following.filler.join()
        assert lacking(by_hand) == 0
        assert {model.state for model in models.stored(both.store)} == {"ready"}
    finally:
        following.close()


def test_a_changed_text_loses_and_gains_the_second_vector(ask, by_hand):
    id = ask.note(BIRTHDAY)
    for content, has in (("Mother's birthday is in May", False), (BIRTHDAY, True)):
        shown = ask("kg.update", id=id, content=content)
        assert not any("vector" in name or "embedding" in name for name in shown)
        (row,) = by_hand("MATCH (n:Note {ns: $ns}) RETURN properties(n) AS held")
        assert [name in row["held"] for name in ("embedding_multilingual", "vector_multilingual")] == [has, has]
        assert ("embedding_model_multilingual" in row["held"]) is has


def test_a_superseded_note_in_another_script_leads_to_its_head(ask):
    old = ask.note(BIRTHDAY)
    new = ask.note("不对，是六月。", supersedes=[old])
    assert ask.found(ASKED)[0] == new
    assert old not in ask.found(ASKED)


def test_each_model_has_a_background_of_the_namespace(ask, both, by_hand):
    ask("memory.remember", items=[{"content": f"第{n}号仓库的钥匙在箱子里"} for n in range(8)])
    memory = both.dispatcher.runtime.states["memory"]
    memory.backgrounds.measure(ask.ns, 8)
    (row,) = by_hand("MATCH (s:Namespace {name: $ns}) RETURN properties(s) AS held")
    assert (row["held"]["background_model"], row["held"]["background_model_multilingual"]) == (
        HASHING_NAME,
        MULTILINGUAL_NAME,
    )
    answer = ask("memory.recall", query="仓库的钥匙")
    assert answer["results"]


def test_the_model_that_was_asked_is_told(ask):
    assert ask("memory.recall_embed", query=ASKED)["model"] == MULTILINGUAL_NAME
    assert ask("memory.recall_embed", query="where is it")["model"] == HASHING_NAME


def test_the_setting_turns_it_off_and_a_multilingual_model_needs_none_beside():
    assert beside(Settings(embedder=HASHING_NAME, multilingual="off")) is None
    assert beside(Settings(embedder=MULTILINGUAL_NAME)) is None
    found = beside(Settings(embedder=HASHING_NAME))
    assert found is not None
    assert found.name == MULTILINGUAL_NAME


def test_a_query_is_kept_for_each_model(nano):
    cache = QueryCache()
    hashed, read = cache.vector(embedder(HASHING_NAME, Settings()), ASKED), cache.vector(nano, ASKED)
    assert not np.allclose(hashed, read)
    assert cache.vector(nano, ASKED) is read


def test_the_model_takes_any_text(nano):
    texts = ["", "half \ud83d pair", "a\x00b", "ab", "钢" * 3000, "word " * 4000]
    found = nano.documents(texts)
    assert found.shape == (6, nano.dimensions)
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-3)
    assert not np.allclose(found[2], nano.documents(["a"])[0], atol=1e-3), "a NUL is no end"
    assert nano.count_tokens(nano._cut("钢琴室" * 3000)) <= nano.max_tokens
    assert nano.documents([]).shape == (0, nano.dimensions)
