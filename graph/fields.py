"""marshmallow fields that take exactly what they say: no number for a text, no text for a number, no naive time.

Limits are in bytes of UTF-8 where a text is limited, since that is what indexes and bodies count.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import re
from collections.abc import Mapping
from typing import Any

from marshmallow import EXCLUDE, RAISE, Schema, ValidationError, fields, post_load

INT64 = 2**63
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")  # in JSON; behind one more backslash it is six characters
_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?([Zz]|[+-]\d\d:?\d\d)")


class Request(Schema):
    """A request: unknown fields are errors; with `makes`, `load` gives a frozen value of that class."""

    class Meta:
        unknown = RAISE

    makes: Any = None
    error_messages = {"unknown": "unknown field"}  # noqa: RUF012

    @post_load
    def _make(self, data: dict[str, Any], **_: Any) -> Any:
        return self.makes(**data) if self.makes else data


class Response(Schema):
    """An answer, as documented; a column that it does not name is left out."""

    class Meta:
        unknown = EXCLUDE


class Text(fields.Field[str]):
    """A text of at most `most` bytes, at least `least` characters; NUL and lone surrogates are refused."""

    def __init__(self, *, most: int, least: int = 0, **kwargs: Any):
        super().__init__(**described(kwargs, type="string", minLength=least))
        self.most, self.least = most, least

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        if not isinstance(value, str):
            raise ValidationError(f"must be a text, not {json_type(value)}")
        if len(value.strip()) < self.least:
            raise ValidationError("must not be empty")
        try:
            size = len(value.encode())
        except UnicodeEncodeError:
            raise ValidationError("holds half a surrogate pair, which is no character") from None
        if size > self.most:
            raise ValidationError(f"must be at most {self.most:,} bytes of UTF-8, is {size:,}")
        if "\0" in value:
            raise ValidationError("holds a NUL character")
        return value


class Choice(fields.Field[str]):
    """One of `choices`, spelled exactly."""

    def __init__(self, choices: tuple[str, ...], **kwargs: Any):
        super().__init__(**described(kwargs, type="string", enum=list(choices)))
        self.choices = choices

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        if not isinstance(value, str) or value not in self.choices:
            raise ValidationError(f"must be one of {', '.join(self.choices)}")
        return value


class Number(fields.Field[float]):
    """A finite number within [low, high]; with `above`, greater than that."""

    def __init__(self, *, low: float | None = None, high: float | None = None, above: float | None = None, **kwargs: Any):
        limits = {"minimum": low, "maximum": high, "exclusiveMinimum": above}
        super().__init__(**described(kwargs, type="number", **{k: v for k, v in limits.items() if v is not None}))
        self.low, self.high, self.above = low, high, above

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValidationError(f"must be a number, not {json_type(value)}")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        low, high, above = self.low, self.high, self.above
        bad = not math.isfinite(number) or (low is not None and number < low) or (high is not None and number > high)
        if bad or (above is not None and number <= above):
            raise ValidationError(f"must be a finite number{self._range()}")
        return number

    def _range(self) -> str:
        parts = [f" of at least {self.low:g}" if self.low is not None else ""]
        parts += [f" above {self.above:g}" if self.above is not None else ""]
        parts += [f" {'and ' if any(parts) else 'of '}at most {self.high:g}" if self.high is not None else ""]
        return "".join(parts)


class Whole(fields.Field[int]):
    """A whole number within [low, high]."""

    def __init__(self, *, low: int, high: int, **kwargs: Any):
        super().__init__(**described(kwargs, type="integer", minimum=low, maximum=high))
        self.low, self.high = low, high

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise ValidationError(f"must be a whole number, not {json_type(value)}")
        if not self.low <= value <= self.high:
            raise ValidationError(f"must be from {self.low:,} to {self.high:,}")
        return value


class Flag(fields.Field[bool]):
    """true or false, nothing else."""

    def __init__(self, **kwargs: Any):
        super().__init__(**described(kwargs, type="boolean"))

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> bool:
        if not isinstance(value, bool):
            raise ValidationError(f"must be true or false, not {json_type(value)}")
        return value


class Moment(fields.Field[dt.datetime]):
    """An instant: ISO 8601 with a zone, from year 1 to 9999; loads as UTC. Digits past the microsecond are cut."""

    def __init__(self, **kwargs: Any):
        super().__init__(**described(kwargs, type="string", format="date-time"))

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> dt.datetime:
        if not isinstance(value, str) or not _TIME.fullmatch(value):
            raise ValidationError("must be a time in ISO 8601 with a zone, like 2026-03-01T10:00:00Z")
        head, fraction, zone = re.fullmatch(r"([^.]*?)(\.\d+)?([Zz]|[+-]\d\d:?\d\d)", value).groups()  # type: ignore[union-attr]
        try:
            moment = dt.datetime.fromisoformat(head.upper() + (fraction or "")[:7] + zone.upper())
            return moment.astimezone(dt.UTC)
        except (ValueError, OverflowError) as error:
            raise ValidationError(f"is no time in ISO 8601 with a zone: {error}") from None

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> str | None:
        return None if value is None else shown_time(value)


class Properties(fields.Field[dict[str, Any]]):
    """A JSON object of at most `most` bytes, kept as it is: value and type."""

    def __init__(self, *, most: int = 65_536, **kwargs: Any):
        super().__init__(**described(kwargs, type="object"))
        self.most = most

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise ValidationError(f"must be an object, not {json_type(value)}")
        try:
            text = json.dumps(value, ensure_ascii=False, allow_nan=False)
            size = len(text.encode())
        except (ValueError, TypeError, RecursionError):
            raise ValidationError("must be JSON with finite numbers, and no half surrogate pairs") from None
        if _NUL.search(text):
            raise ValidationError("holds a NUL character")
        if size > self.most:
            raise ValidationError(f"must be at most {self.most:,} bytes of JSON, is {size:,}")
        return dict(value)


class Several(fields.List[Any]):
    """A list of at most `most` items; with `or_one`, a single item stands for a list of one."""

    def __init__(self, inner: fields.Field[Any], *, most: int, or_one: bool = False, least: int = 0, **kwargs: Any):
        super().__init__(inner, **described(kwargs))
        self.most, self.or_one, self.least = most, or_one, least

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> list[Any]:
        if self.or_one and not isinstance(value, list):
            return [self.inner.deserialize(value, attr, data, **kwargs)]
        if not isinstance(value, list):
            raise ValidationError(f"must be a list, not {json_type(value)}")
        if not self.least <= len(value) <= self.most:
            raise ValidationError(f"must hold {self.least:,} to {self.most:,} items, has {len(value):,}")
        return super()._deserialize(value, attr, data, **kwargs)


def described(kwargs: dict[str, Any], **schema: Any) -> dict[str, Any]:
    """`kwargs` of a field with `schema` (JSON schema keywords) for the OpenAPI document; `about` says what it is for."""
    about = {"description": kwargs.pop("about")} if "about" in kwargs else {}
    return kwargs | {"metadata": schema | about | kwargs.get("metadata", {})}


def Id(**kwargs: Any) -> Text:  # noqa: N802
    """A node's id."""
    return Text(most=128, least=1, **kwargs)


def json_type(value: Any) -> str:
    """What JSON calls the type of a decoded value."""
    names = {
        bool: "a truth value",
        int: "a number",
        float: "a number",
        str: "a text",
        list: "a list",
        dict: "an object",
    }
    return "null" if value is None else names.get(type(value), type(value).__name__)


def shown_time(moment: dt.datetime) -> str:
    """ISO 8601 in UTC, with `Z`."""
    return moment.astimezone(dt.UTC).isoformat().replace("+00:00", "Z")
