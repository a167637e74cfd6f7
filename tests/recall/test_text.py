"""The tokeniser, names, sentences and passages."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.fold import fold
from recall.text import (
    MAX_QUERY_TERMS,
    MAX_TERM_LENGTH,
    Word,
    cjk_share,
    lucene,
    meaningless,
    name_key,
    names,
    non_ascii_letter_share,
    passages,
    proper_names,
    query_terms,
    sentences,
    terms,
)

MIB = 1 << 20


def matched(query: str, note: str) -> bool:
    """Whether each word of the query has a form, or all its parts or bigrams, in the note."""
    held = set(terms(note))

    def has(word: Word) -> bool:
        if word.grams:
            return any(gram in held for gram in word.grams)
        alone = {word.text, word.stem, *word.others} & held
        return bool(alone) or (bool(word.parts) and all(map(has, word.parts)))

    return all(map(has, query_terms(query).words))


@pytest.mark.parametrize(
    ("query", "note"),
    [
        ("ADR 0172", "Rule ADR-0172 moves the logger."),
        ("adr-0172", "Rule ADR-0172 moves the logger."),
        ("tide gauge", "the tide-gauge logger"),
        ("7f3a9c52", "Ticket 7f3a9c52-4b1e-4d0a-9c6f-2e8b1a5d7740"),
        ("7F3A9C52-4B1E-4D0A-9C6F-2E8B1A5D7740", "Ticket 7f3a9c52-4b1e-4d0a-9c6f-2e8b1a5d7740"),
        ("irrigation-zones.yaml", "Edit /srv/orchard/conf.d/irrigation-zones.yaml now"),
        ("/srv/orchard/conf.d/irrigation-zones.yaml", "Edit /srv/orchard/conf.d/irrigation-zones.yaml now"),
        ("v2.14.3-rc1", "Library fastpump v2.14.3-rc1 fixed it"),
        ("parse_tide_table", "Call parse_tide_table() there"),
        ("tidetableparser", "the class TideTableParser."),
        ("tide parser", "the class TideTableParser."),
        (".NET sampler C++", "The new .NET sampler replaces the C++ one"),
        ("state of the art", "a state-of-the-art anemometer"),
        ("state-of-the-art", "it is state of the art"),
        ("BX-44_19/7", "Order no. BX-44_19/7 is due"),
        ("email", "send an e-mail"),
        ("1000", "it costs 1,000 euros"),
        ("Rowan allergies", "Rowan's allergy list"),
        ("running", "she runs"),
    ],
)
def test_a_word_is_found_in_its_other_forms(query: str, note: str) -> None:
    assert matched(query, note)


@pytest.mark.parametrize(
    ("query", "note"),
    [
        ("钢琴室预约", "图书馆二楼的钢琴室可以免费预约练习。"),
        ("난초분갈이", "온실에서 난초 분갈이 수업"),
        ("ซ่อมจักรยาน", "ร้านซ่อมจักรยานข้างสถานี"),
        ("ｶﾒﾗの充電器", "カメラの充電器は倉庫にある。"),
        ("琴", "钢琴室"),
        ("12306退票", "铁路12306的退票窗口"),
    ],
)
def test_script_without_spaces_is_found_in_part(query: str, note: str) -> None:
    assert matched(query, note)


def test_a_run_broken_by_a_space_has_the_bigram_across_it() -> None:
    assert "초분" in terms("난초 분갈이")
    assert "초분" not in terms("난초, 분갈이")


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("CRÈME BRÛLÉE", "creme brulee"),
        ("Cre\u0300me", "creme"),
        ("Straße", "strasse"),
        ("İSTANBUL ISPARTA ısparta", "istanbul isparta isparta"),
        ("Ærø Łódź Øresund œuvre", "aero lodz oresund oeuvre"),
        ("ΟΔΥΣΣΕΑΣ Οδυσσέας", "οδυσσεασ οδυσσεασ"),
        ("ＫＱ７７４２ ﬁnance oﬃce", "kq7742 finance office"),
        ("اجتماعُ الفريقِ", "اجتماع الفريق"),
        ("שָׁלוֹם", "שלום"),
        ("٣٤", "34"),
        ("が か パ", "が か パ"),
        ("ก้าน", "ก้าน"),
        ("zero\u200bwidth", "zerowidth"),
        ("half \ud83d pair", "half   pair"),
    ],
)
def test_written_forms_fold_to_one(text: str, folded: str) -> None:
    assert fold(text) == folded


def test_stem_and_exact_form_never_meet() -> None:
    assert terms("gauges") == ["gauges", "#gaug"]
    assert not any(term.startswith("#") for term in terms("#rotor ##") if term != "#rotor")
    assert terms("#rotor")[0] == "rotor"


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "\t\n",
        "\u3000",
        "*",
        "...",
        "—",
        '""',
        "@#$%^&*",
        "aaaaaaaa",
        "zzzz",
        "zz zz",
        "ーーーーー",
        "👍",
        "•••",
        "½",
        "→ ←",
    ],
)
def test_a_text_without_meaning_is_told(text: str) -> None:
    assert meaningless(text)


@pytest.mark.parametrize("text", ["7", "琴", "ก", "x", "the of and", "2+2", "AND", "ok", "777", "a1", "é"])
def test_a_short_text_may_have_meaning(text: str) -> None:
    assert not meaningless(text)


def test_stop_words_are_dropped_only_beside_others() -> None:
    assert [word.text for word in query_terms("where is the boat").words] == ["boat"]
    only = query_terms("the of and")
    assert only.only_stop_words
    assert [word.text for word in only.words] == ["the", "of", "and"]


def test_a_query_has_at_most_64_terms_and_the_rarest_stay() -> None:
    text = " ".join(f"word{i}" for i in range(500)) + " zebra"
    assert len(query_terms(text).words) == MAX_QUERY_TERMS
    rare = query_terms(text, rarity=lambda term: float(term == "zebra"))
    assert "zebra" in rare.terms
    assert len(query_terms("水文站" * 2000).terms) <= MAX_QUERY_TERMS
    assert len(query_terms("a-b" * 2000).words) == 1


def test_lucene_syntax_is_escaped() -> None:
    assert lucene(query_terms("c++ a/b .net")) == r"c\+\+ c a\/b b .net net #net"
    assert lucene(query_terms("*:* (((")) == ""
    for text in ("AND", "a AND (b OR", 'x" ~', "[* TO *]", "foo^99", "\\u"):
        assert not set(lucene(query_terms(text)).replace("\\", "")) & set('*?()[]{}"~^')


@given(st.text(max_size=300))
def test_any_text_gives_sound_terms(text: str) -> None:
    for term in terms(text):
        assert 0 < len(term) <= MAX_TERM_LENGTH
        assert not any(char.isspace() for char in term)
    assert set(query_terms(text).terms) <= set(terms(text))
    names(text)
    proper_names(text)
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


LONG = {
    "letter": "q" * MIB,
    "bracket": "(" * MIB,
    "words": "plum jam shelf " * (MIB // 15),
    "han": "漢" * (MIB // 3),
    "hyphens": "a-" * (MIB // 2),
    "dots": "." * MIB,
    "capitals": "A: " * (MIB // 3),
    "accents": "é" * (MIB // 2),
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_a_very_long_text_takes_time_in_proportion(text: str) -> None:
    started = time.perf_counter()
    terms(text)
    lucene(query_terms(text[:65536]))
    proper_names(text)
    names(text)
    meaningless(text)
    passages(text, lambda piece: len(piece) // 4 + 1)
    assert time.perf_counter() - started < 20  # about 1.5 s here; a quadratic step takes minutes


def test_long_terms_are_cut_and_stay_apart() -> None:
    first, second = terms("q" * 5000 + "a")[0], terms("q" * 5000 + "b")[0]
    assert len(first) <= MAX_TERM_LENGTH
    assert first != second


def test_names_of_a_query_are_word_runs_and_substrings() -> None:
    found = names("Who is Marta Olsen in 钢琴室?")
    assert {"marta olsen", "marta", "钢琴", "钢琴室", "琴室"} <= set(found)
    assert len(names("word " * 50 + " ".join(map(str, range(500))))) <= 200


def test_one_key_for_a_name_in_its_written_forms() -> None:
    assert name_key("O’Brien's") == name_key("OBRIEN") == "obrien"
    assert name_key("Tide-Gauge") == name_key(" tide  gauge ")
    assert name_key("C++") == "c++"
    assert len(name_key("n" * 5000)) <= 100


def test_proper_names_are_told_by_their_form() -> None:
    note = "[1:56 pm on 8 May, 2023] Caroline: I met Marta Olsen at the Bank of England. ADR-0172 and RFC 7230 say so."
    assert {"Caroline", "Marta Olsen", "Bank of England", "ADR-0172", "RFC 7230"} <= set(proper_names(note))
    assert proper_names("Yesterday it rained. Nothing else. Monday was dry in May.") == []
    assert proper_names("Adele sang. Then Adele left.") == ["Adele"]
    assert proper_names("读《红楼梦》") == ["红楼梦"]


def test_sentences_end_where_readers_end_them() -> None:
    assert sentences("Dr. Olsen came at 3.5 p.m. on foot. Did she? Yes! 好。对") == [
        "Dr. Olsen came at 3.5 p.m. on foot.", "Did she?", "Yes!", "好。", "对",
    ]  # fmt: skip


def words(text: str) -> int:
    return len(text.split())


def test_passages_overlap_by_whole_sentences_and_lose_nothing() -> None:
    text = " ".join(f"Sentence number {i} is here." for i in range(100))
    found = passages(text, words, max_tokens=40, overlap=10)
    assert all(words(piece) <= 40 for piece in found)
    assert all(f"Sentence number {i} is here." in " ".join(found) for i in range(100))
    assert sentences(found[0])[-1] == sentences(found[1])[0] or sentences(found[0])[-1] == sentences(found[1])[1]
    assert passages("Short one.", words) == ["Short one."]
    assert passages("  ", words) == []


def test_a_sentence_too_long_for_a_passage_is_cut() -> None:
    found = passages("q" * 40_000, len, max_tokens=500)
    assert all(len(piece) <= 500 for piece in found)
    assert sum(map(len, found)) == 40_000


def test_shares_of_scripts() -> None:
    assert cjk_share("钢琴 ab") == 0.5
    assert cjk_share("...") == 0
    assert non_ascii_letter_share("привет ok") == 0.75
