import json
import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.errors import ValidationFailed
from web.strict_json import MOST_DEPTH, MOST_FAULTS, loads

REFUSED = [
    (b'{"a": NaN}', "a", "finite"),
    (b'{"a": Infinity}', "a", "finite"),
    (b'{"a": [1, -Infinity]}', "a.1", "finite"),
    (b'{"a": 1e999}', "a", "64-bit float"),
    (b'{"a": {"b": -1e999}}', "a.b", "64-bit float"),
    (b'{"a": 9223372036854775808}', "a", "64 bits"),
    (b'{"a": -9223372036854775809}', "a", "64 bits"),
    (b'{"a": ' + b"1" * 5_000 + b"}", "a", "64 bits"),
    (b'{"a": 1, "a": 2}', "a", "twice"),
    (b'{"items": [{"x": 1}, {"x": 1, "y": 2, "x": 1}]}', "items.1.x", "twice"),
    (b'{"a": "half \\ud83d pair"}', "a", "surrogate"),
    (b'{"a": ["\\ude00\\ud83d"]}', "a.0", "surrogate"),
    (b'{"properties": {"n\\ud800": 1}}', "properties.n\\ud800", "surrogate"),
    (b'{"a": "nul \\u0000"}', "a", "NUL"),
    (b'{"properties": {"n\\u0000": 1}}', "properties.n\\u0000", "NUL"),
    (b'{"\\ud800": 1, "\\ud800": 2}', "\\ud800", "twice"),
    (b'{"a": "raw \x00"}', "", "control character"),
    (b'{"a": "raw \n newline"}', "", "control character"),
    (b'{"a": "\\q"}', "", "escape"),
    (b'{"a": "\xff"}', "", "UTF-8"),
    (b'{"a": "\xed\xa0\x80"}', "", "UTF-8"),
    ('{"a": 1}'.encode("utf-16"), "", "UTF-8"),
    (b"", "", "empty"),
    (b"  \n", "", "empty"),
    (b"[]", "", "object, not a list"),
    (b"null", "", "object, not null"),
    (b"42", "", "object, not a number"),
    (b"NaN", "", "finite"),
    (b'"text"', "", "object, not a text"),
    (b'{"a": 1} x', "", "Extra data"),
    (b'{"a": 1}{"a": 1}', "", "Extra data"),
    (b'{"a": 1,}', "", "not JSON"),
    (b"{'a': 1}", "", "not JSON"),
    (b'{"a": 01}', "", "not JSON"),
    (b'{"a": +1}', "", "not JSON"),
    (b'{"a": .5}', "", "not JSON"),
    (b'{"a": 1', "", "not JSON"),
    (b"[" * 20_000, "", "deeper"),
    (b'{"a":' * 5_000, "", "deeper"),
    (b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "", "deeper"),
]


@pytest.mark.parametrize(("data", "field", "words"), REFUSED, ids=[str(data[:40]) for data, _, _ in REFUSED])
def test_what_two_readers_could_read_differently_is_refused_by_its_field(data, field, words):
    with pytest.raises(ValidationFailed) as caught:
        loads(data)
    assert [error["field"] for error in caught.value.errors] == [field]
    assert words in caught.value.errors[0]["message"]
    json.dumps(caught.value.errors, ensure_ascii=False).encode()  # the answer can be written


ACCEPTED = [
    (b"{}", {}),
    (b' {"a": 9223372036854775807} ', {"a": 2**63 - 1}),
    (b'{"a": -9223372036854775808}', {"a": -(2**63)}),
    (b'{"a": -0, "b": 1e308, "c": 1e-400}', {"a": 0, "b": 1e308, "c": 0.0}),
    (b'{"a": "\\ud83d\\ude00"}', {"a": "\N{GRINNING FACE}"}),
    (b'{"a": "\\\\u0000 and \\\\ud800"}', {"a": "\\u0000 and \\ud800"}),
    (b'{"a": {"x": 1}, "b": {"x": 2}}', {"a": {"x": 1}, "b": {"x": 2}}),
    (b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
    ('{"é": "日本"}'.encode(), {"é": "日本"}),
]


@pytest.mark.parametrize(("data", "value"), ACCEPTED)
def test_what_has_one_meaning_is_read(data, value):
    assert loads(data) == value


def test_a_float_stays_a_float_and_a_whole_number_whole():
    found = loads(b'{"a": 2.0, "b": 2}')
    assert type(found["a"]) is float
    assert type(found["b"]) is int


@pytest.mark.parametrize(("start", "end"), [("[", "]"), ('{"a":', "}")])
def test_nesting_is_read_to_its_limit_and_no_deeper(start, end):
    def nested(levels):
        return f'{{"a":{start * (levels - 1)}1{end * (levels - 1)}}}'.encode()

    assert loads(nested(MOST_DEPTH))
    with pytest.raises(ValidationFailed, match="deeper than 64"):
        loads(nested(MOST_DEPTH + 1))


def test_all_faults_are_told_at_once_in_the_order_of_the_text():
    with pytest.raises(ValidationFailed) as caught:
        loads(b'{"a": NaN, "b": [1e999, "\\u0000"], "c": {"d": 1, "d": 2}}')
    assert [error["field"] for error in caught.value.errors] == ["a", "b.0", "b.1", "c.d"]


@pytest.mark.parametrize("value", [b"NaN", b'"\\u0000"'])
def test_a_flood_of_faults_gives_a_short_answer(value):
    with pytest.raises(ValidationFailed) as caught:
        loads(b'{"a": [' + b", ".join([value] * 10_000) + b"]}")
    assert len(caught.value.errors) <= MOST_FAULTS


def test_a_batch_of_5_mb_is_read_in_well_under_a_second():
    item = {
        "content": "A note of middling length. " * 180,
        "salience": 0.4,
        "tags": ["a", "b"],
        "properties": {"n": [1, 2.5]},
    }
    body = json.dumps({"items": [item] * 1_000}).encode()
    started = time.process_time()
    assert len(loads(body)["items"]) == 1_000
    assert len(body) > 4_900_000
    assert time.process_time() - started < 0.5


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=10)
numbers = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(texts, values, max_size=5), st.booleans())
def test_every_good_object_is_read_as_it_was_written(value, escaped):
    assert loads(json.dumps(value, ensure_ascii=escaped).encode()) == value


@given(st.binary(max_size=60) | st.text('{}[]",:\\ud80aNeE019.-', max_size=60).map(str.encode))
def test_no_bytes_do_anything_but_be_read_or_refused(data):
    with suppress(ValidationFailed):
        assert isinstance(loads(data), dict)
