"""The lines of an export: how values are written as JSON, and read back as what they were.

One JSON object a line: a header, then `namespace`, `node` and `edge` records, and an `end` with counts and a checksum.
Times named `*_at` are ISO 8601 as they stand; another time is {"$time": ..}, bytes are {"$bytes": base64}; a vector is the
base64 of its float32 numbers, little-endian. What follows from the rest (words, filter forms, packed vectors) is left out.
"""

from __future__ import annotations

import base64
import datetime as dt
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from graph.errors import ValidationFailed
from graph.ontology import RECALLABLE
from graph.slots import SLOTS, STORED

FORMAT, VERSION = "palimpsest", 1
LAYERS = ("Current", "Superseded", "Deleted", "Recallable")
PRIVATE = frozenset(
    {"Migration", "Model", "ApiKey", "Audit", "Namespace", "Passage", *LAYERS}
)  # labels that no record may bring along
DERIVED = frozenset({"ns", "title", "terms", "content_hash", "type_key", "tag_key", "name_key", "layer"} | set(STORED)) | {
    f"{time}_{form}" for time in ("created", "superseded", "expires") for form in ("ts", "key")
}
MODEL_NAMES = {slot.embedding: f"embedding_model{slot.suffix}" for slot in SLOTS}
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
_ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")


def line(record: Mapping[str, Any]) -> bytes:
    """A record as a line."""
    return orjson.dumps(record, option=orjson.OPT_SERIALIZE_NUMPY) + b"\n"


def written(properties: Mapping[str, Any], without: frozenset[str] = frozenset({"ns"})) -> dict[str, Any]:
    """Properties of a node or an edge as JSON values; those that are null or named in `without` are left out."""
    return {
        name: _json(value, name) for name, value in sorted(properties.items()) if value is not None and name not in without
    }


def _json(value: Any, name: str = "") -> Any:
    if isinstance(value, bytes | bytearray):
        return {"$bytes": base64.b64encode(value).decode("ascii")}
    if hasattr(value, "iso_format") or isinstance(value, dt.date | dt.time):
        text = value.iso_format() if hasattr(value, "iso_format") else value.isoformat()
        text = re.sub(r"(\.\d{6})000", r"\1", text.replace("+00:00", "Z"))
        return text if name.endswith("_at") and _ISO.fullmatch(text) else {"$time": text}
    if isinstance(value, list | tuple):
        return [_json(item) for item in value]
    if isinstance(value, bool | int | float | str):
        return value
    return {"$text": str(value)}


def read(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Properties from JSON values. Raises ValidationFailed for what is none."""
    return {str(name): _value(value, str(name)) for name, value in properties.items()}


def _value(value: Any, name: str) -> Any:
    try:
        if isinstance(value, dict):
            ((kind, inner),) = value.items()
            if kind == "$bytes":
                return base64.b64decode(inner, validate=True)
            if kind == "$text":
                return str(inner)
            if kind == "$time":
                return moment(inner)
            raise ValueError(f"an object of {kind!r}")
        if isinstance(value, str) and name.endswith("_at") and _ISO.fullmatch(value):
            return moment(value)
    except (ValueError, TypeError, AttributeError) as fault:
        raise ValidationFailed.of(name, f"is no stored value: {fault}") from None
    return [_value(item, "") for item in value] if isinstance(value, list) else value


def moment(text: str) -> dt.datetime:
    """A time with a zone; digits past the microsecond are cut. Raises ValueError."""
    found = dt.datetime.fromisoformat(re.sub(r"(\.\d{6})\d+", r"\1", text))
    if found.tzinfo is None:
        raise ValueError("a time without a zone")
    return found.astimezone(dt.UTC)


def packed_vector(found: Any) -> str:
    """The base64 of a vector as the driver gives it."""
    return base64.b64encode(np.asarray(found.to_numpy(), dtype="<f4").tobytes()).decode("ascii")


def vector_of(text: str) -> NDArray[np.float32]:
    """The numbers of a vector. Raises ValueError."""
    numbers = np.frombuffer(base64.b64decode(text, validate=True), dtype="<f4").astype(np.float32)
    if not len(numbers) or not np.isfinite(numbers).all():
        raise ValueError("a vector must be of finite numbers")
    return numbers


def label_of(labels: Sequence[str]) -> str:
    """The label that says what a node is."""
    return next((label for label in (*RECALLABLE, "Entity") if label in labels), None) or min(
        (label for label in labels if label not in LAYERS), default=""
    )
