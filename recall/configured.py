"""Recall's settings from a JSON file: the weights that no request may change, and the limits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from marshmallow import ValidationError, fields, post_load

from graph.errors import SettingsError
from graph.fields import Number, Request, Whole
from recall.config import RecallConfig, ScoringConfig
from recall.memory_schemas import KnobsRequest


class RecallFile(Request):
    """Every field may be left out; what it means says `RecallConfig`."""

    scoring = fields.Nested(KnobsRequest)
    vector_weight = Number(low=0, high=1_000_000)
    text_weight = Number(low=0, high=1_000_000)
    rrf_k = Whole(low=1, high=10_000)
    leg_timeout_s = Number(above=0, high=120)
    deadline_s = Number(above=0, high=120)
    strong_hits = Whole(low=0, high=200)
    old_candidates = Whole(low=1, high=500)
    near_duplicate = Number(low=0, high=0.9999)
    near_duplicate_penalty = Number(low=0, high=1)

    @post_load
    def _make(self, data: dict[str, Any], **_: Any) -> RecallConfig:
        if "scoring" in data:
            data["scoring"] = data["scoring"].over(ScoringConfig())
        config = RecallConfig(**data)
        if config.vector_weight + config.text_weight <= 0:
            raise ValidationError("vector_weight and text_weight must not both be 0", "vector_weight")
        return config


def configured(file: Path) -> RecallConfig:
    """The settings in `file`. Raises SettingsError, which names each field that is wrong and what is allowed."""
    try:
        return RecallFile().load(json.loads(file.read_text(encoding="utf-8")))  # type: ignore[no-any-return]
    except ValidationError as error:
        raise SettingsError(f"PALIMPSEST_RECALL={file}: {json.dumps(error.messages)}") from error
    except (OSError, ValueError) as error:
        raise SettingsError(f"PALIMPSEST_RECALL={file}: {error}") from error
