"""Fields take exactly what they say, and say what they take."""

from __future__ import annotations

import datetime as dt
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from marshmallow import ValidationError, fields

from graph.fields import Choice, Flag, Id, Moment, Number, Properties, Several, Text, Whole, shown_time

NESTED: dict[str, Any] = {"a": {}}
for _ in range(100_000):
    NESTED = {"a": NESTED}


@pytest.mark.parametrize(
    ("field", "value", "fault"),
    [
        (Text(most=5), 3, "must be a text, not a number"),
        (Text(most=5), None, "may not be null"),
        (Text(most=5), True, "not a truth value"),
        (Text(most=5), ["a"], "not a list"),
        (Text(most=5), "ääā", "at most 5 bytes of UTF-8, is 6"),
        (Text(most=5, least=1), "", "must not be empty"),
        (Text(most=5, least=1), " \t\n", "must not be empty"),
        (Text(most=5), "\ud800", "half a surrogate pair"),
        (Text(most=5), "a\0b", "holds a NUL"),
        (Id(), "x" * 129, "at most 128 bytes"),
        (Id(), "", "must not be empty"),
        (Choice(("in", "out")), "IN", "must be one of in, out"),
        (Choice(("in", "out")), 1, "must be one of in, out"),
        (Number(low=0, high=1), "0.5", "must be a number, not a text"),
        (Number(low=0, high=1), True, "must be a number, not a truth value"),
        (Number(low=0, high=1), 1.0001, "a finite number of at least 0 and at most 1"),
        (Number(low=0), math.nan, "a finite number of at least 0"),
        (Number(), math.inf, "must be a finite number$"),
        (Number(), 10**400, "must be a finite number$"),
        (Number(above=0, high=2), 0, "a finite number above 0 and at most 2"),
        (Number(high=2), 3, "a finite number of at most 2"),
        (Whole(low=1, high=2000), 2.0, "must be a whole number"),
        (Whole(low=1, high=2000), True, "must be a whole number, not a truth value"),
        (Whole(low=1, high=2000), 0, "must be from 1 to 2,000"),
        (Flag(), 1, "must be true or false, not a number"),
        (Flag(), "true", "must be true or false, not a text"),
        (Moment(), "2026-03-01T10:00:00", "with a zone"),
        (Moment(), "2026-03-01", "with a zone"),
        (Moment(), 1767225600, "with a zone"),
        (Moment(), "2026-13-01T10:00:00Z", "is no time"),
        (Moment(), "0001-01-01T00:00:00+10:00", "is no time"),
        (Moment(), "9999-12-31T23:59:59-10:00", "is no time"),
        (Moment(), "2026-02-30T00:00:00Z", "is no time"),
        (Moment(), "2026-01-01T00:00:00Z\n", "with a zone"),
        (Moment(), "٢٠٢٦-01-01T00:00:00Z", "with a zone"),
        (Properties(), [], "must be an object, not a list"),
        (Properties(), {"a": math.nan}, "finite numbers"),
        (Properties(), {"a": "\udfff"}, "half surrogate"),
        (Properties(), {"a\0": 1}, "NUL"),
        (Properties(), {"a": ["\0"]}, "NUL"),
        (Properties(), NESTED, "must be JSON"),
        (Properties(most=8), {"a": "123"}, "at most 8 bytes of JSON, is 12"),
        (Several(Text(most=5), most=2), "a", "must be a list, not a text"),
        (Several(Text(most=5), most=2), ["a"] * 3, "must hold 0 to 2 items, has 3"),
        (Several(Text(most=5), most=2, least=1), [], "must hold 1 to 2 items, has 0"),
    ],
)
def test_a_wrong_value_is_refused_with_what_is_right(field: fields.Field, value, fault):
    with pytest.raises(ValidationError, match=fault):
        field.deserialize(value)


@pytest.mark.parametrize(
    ("field", "value", "loaded"),
    [
        (Text(most=5), "äāb", "äāb"),
        (Text(most=5), "", ""),
        (Text(most=9, least=1), " a ", " a "),
        (Text(most=5, allow_none=True), None, None),
        (Number(low=0, high=1), 1, 1.0),
        (Number(low=0), -0.0, 0.0),
        (Whole(low=1, high=3), 3, 3),
        (Flag(), False, False),
        (Several(Text(most=5), most=2, or_one=True), "a", ["a"]),
        (Several(Text(most=5), most=2, or_one=True), ["a", "b"], ["a", "b"]),
        (Properties(), {"\\u0000": "the six characters of an escape"}, {"\\u0000": "the six characters of an escape"}),
    ],
)
def test_a_right_value_is_loaded_as_it_is(field: fields.Field, value, loaded):
    assert field.deserialize(value) == loaded


def test_the_fault_of_an_item_is_told_by_its_place():
    with pytest.raises(ValidationError) as error:
        Several(Text(most=1), most=5).deserialize(["a", "bb", "c", 4])
    assert sorted(error.value.messages) == [1, 3]  # type: ignore[type-var]


@pytest.mark.parametrize(
    ("value", "utc"),
    [
        ("2026-03-01T10:00:00Z", "2026-03-01T10:00:00Z"),
        ("2026-03-01t10:00z", "2026-03-01T10:00:00Z"),
        ("2026-03-01 10:00:00.123456789+02:00", "2026-03-01T08:00:00.123456Z"),
        ("2026-03-01T10:00:00.5-0730", "2026-03-01T17:30:00.500000Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
        ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"),
    ],
)
def test_a_time_is_loaded_as_utc(value, utc):
    moment = Moment().deserialize(value)
    assert moment.tzinfo is dt.UTC
    assert shown_time(moment) == utc


@given(st.datetimes(timezones=st.timezones(), min_value=dt.datetime(2, 1, 1), max_value=dt.datetime(9998, 1, 1)))
def test_a_shown_time_is_the_time_that_it_was(moment: dt.datetime):
    assert Moment().deserialize(shown_time(moment)) == moment.astimezone(dt.UTC)  # else Python calls a doubled hour unequal


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=3), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


@given(st.dictionaries(st.text("abc", max_size=3), JSON, max_size=4))
def test_properties_are_loaded_as_they_are(value: dict[str, Any]):
    assert repr(Properties().deserialize(value)) == repr(value)
