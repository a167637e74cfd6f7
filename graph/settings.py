"""Settings from the environment: one frozen value, and every fault in it reported at once.

A variable that is set but empty counts as not set. Each field below carries the variables that set it (the first one
found wins), how it is read, and a sentence for the documentation in its `metadata`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Set
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import platformdirs

from graph.errors import SettingsError

URI_SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")


def masked_repr(value: Any) -> str:
    """`repr` of a dataclass in which a field with `metadata["secret"]` shows only whether it is set."""
    shown = (
        f"{f.name}={'***' if f.metadata.get('secret') and getattr(value, f.name) else repr(getattr(value, f.name))}"
        for f in fields(value)
        if f.repr
    )
    return f"{type(value).__name__}({', '.join(shown)})"


def _path(raw: str) -> Path:
    return Path(raw).expanduser().absolute()


def _whole(low: int, high: int) -> Callable[[str], int]:
    def read(raw: str) -> int:
        if not re.fullmatch(r"[0-9]{1,9}", raw) or not low <= int(raw) <= high:
            raise ValueError(f"a whole number from {low} to {high}")
        return int(raw)

    return read


def _one_of(*values: str) -> Callable[[str], str]:
    def read(raw: str) -> str:
        if raw.lower() not in values:
            raise ValueError(f"{', '.join(values[:-1])} or {values[-1]}")
        return raw.lower()

    return read


def _memory(raw: str) -> str:
    if not re.fullmatch(r"[1-9][0-9]{0,6}[kmg]", raw.lower()) or memory_bytes(raw) < 32 << 20:
        raise ValueError("a memory size of 32m or more: a whole number and k, m or g, such as 512m or 2g")
    return raw.lower()


def memory_bytes(size: str) -> int:
    """Bytes of a size such as "512m" or "2g"."""
    return int(size[:-1]) << {"k": 10, "m": 20, "g": 30}[size[-1].lower()]


def _uri(raw: str) -> str:
    wanted = f"an address such as neo4j://localhost:7687; schemes: {', '.join(URI_SCHEMES)}"
    try:
        parts = urlsplit(raw)
        named = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        named = False
    if not named or parts.scheme not in URI_SCHEMES:
        raise ValueError(wanted)
    if parts.username or parts.password:
        raise ValueError(f"{wanted}; user and password go into NEO4J_USERNAME and NEO4J_PASSWORD")
    return raw


def _url(raw: str) -> str:
    parts = urlsplit(raw)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password:
        raise ValueError("an address such as https://api.openai.com/v1, without user and password")
    return raw.rstrip("/")


def _of(*variables: str, read: Callable[[str], Any] = str, about: str, secret: bool = False) -> dict[str, Any]:
    """Metadata of a field: `read` gives its value or raises ValueError with what is allowed."""
    return {"variables": variables, "read": read, "about": about, "secret": secret}


@dataclass(frozen=True, kw_only=True, repr=False)
class Settings:
    """All that can be set from outside. Sizes are strings as the JVM reads them ("512m", "2g")."""

    home: Path = field(
        default_factory=lambda: platformdirs.user_data_path("palimpsest"),
        metadata=_of("PALIMPSEST_HOME", read=_path, about="Folder of the managed Neo4j: data, logs, password."),
    )
    cache: Path = field(
        default_factory=lambda: platformdirs.user_cache_path("palimpsest"),
        metadata=_of("PALIMPSEST_CACHE", read=_path, about="Folder of downloaded jars and models; homes may share it."),
    )
    host: str = field(
        default="127.0.0.1",
        metadata=_of("PALIMPSEST_HOST", about="Address the service listens on."),
    )
    port: int = field(
        default=8765,
        metadata=_of("PALIMPSEST_PORT", read=_whole(0, 65535), about="Port of the service; 0 takes a free one."),
    )
    threads: int = field(
        default=8,
        metadata=_of("PALIMPSEST_THREADS", read=_whole(1, 256), about="Requests worked on at once."),
    )
    max_body_mb: int = field(
        default=64,
        metadata=_of("PALIMPSEST_MAX_BODY_MB", read=_whole(1, 4096), about="Largest request body, in MiB."),
    )
    auth: str = field(
        default="auto",
        metadata=_of(
            "PALIMPSEST_AUTH",
            read=_one_of("auto", "on", "off"),
            about="Whether requests need an API key: auto (once a key exists, and beyond loopback), on, off.",
        ),
    )
    rate_per_minute: int = field(
        default=1200,
        metadata=_of(
            "PALIMPSEST_RATE_PER_MINUTE", read=_whole(0, 1_000_000), about="Requests a minute that a key may make; 0: any."
        ),
    )
    audit_days: int = field(
        default=90,
        metadata=_of("PALIMPSEST_AUDIT_DAYS", read=_whole(1, 36500), about="Days that records of who did what are kept."),
    )
    log: str = field(
        default="info",
        metadata=_of(
            "PALIMPSEST_LOG",
            read=_one_of("debug", "info", "warning", "error"),
            about="The least that a log line must be; at info each request has one.",
        ),
    )
    metrics: str = field(
        default="key",
        metadata=_of(
            "PALIMPSEST_METRICS",
            read=_one_of("open", "key", "off"),
            about="Who reads /metrics: key (an admin key, where keys are needed), open (anybody), off (nobody).",
        ),
    )
    embedder: str = field(
        default="e5-small-v2",
        metadata=_of("PALIMPSEST_EMBEDDER", about="Name of the embedding model."),
    )
    linker: str = field(
        default="names",
        metadata=_of(
            "PALIMPSEST_LINKER",
            read=_one_of("names", "off"),
            about="How a note is linked to the entities that it names: `names` by its text, `off` as its writer says.",
        ),
    )
    multilingual: str = field(
        default="auto",
        metadata=_of(
            "PALIMPSEST_MULTILINGUAL",
            read=_one_of("auto", "all", "off"),
            about="Which texts the model of the extra `multilingual` reads too: auto (other scripts), all, off.",
        ),
    )
    openai_url: str = field(
        default="https://api.openai.com/v1",
        metadata=_of(
            "PALIMPSEST_OPENAI_URL",
            "OPENAI_BASE_URL",
            read=_url,
            about="Where a model called openai:MODEL is asked: any endpoint with OpenAI's /embeddings.",
        ),
    )
    openai_key: str | None = field(
        default=None,
        metadata=_of("PALIMPSEST_OPENAI_KEY", "OPENAI_API_KEY", about="The key for that endpoint.", secret=True),
    )
    recall: Path | None = field(
        default=None,
        metadata=_of(
            "PALIMPSEST_RECALL", read=_path, about="A JSON file with recall's weights and limits; see docs/quality.md."
        ),
    )
    calibration: Path | None = field(
        default=None,
        metadata=_of("PALIMPSEST_CALIBRATION", read=_path, about="A calibration of your own, from `palimpsest calibrate`."),
    )
    trace_days: int = field(
        default=30,
        metadata=_of("PALIMPSEST_TRACE_DAYS", read=_whole(1, 36500), about="Days that traces of built contexts are kept."),
    )
    neo4j_uri: str | None = field(
        default=None,
        metadata=_of("NEO4J_URI", "NEO4J_URL", read=_uri, about="A Neo4j of your own; by default one is managed here."),
    )
    neo4j_username: str = field(
        default="neo4j",
        metadata=_of("NEO4J_USERNAME", "NEO4J_USER", about="User on the server that NEO4J_URI names."),
    )
    neo4j_password: str | None = field(
        default=None,
        metadata=_of("NEO4J_PASSWORD", about="Password on the server that NEO4J_URI names.", secret=True),
    )
    neo4j_database: str = field(
        default="neo4j",
        metadata=_of("NEO4J_DATABASE", about="Database on the server that NEO4J_URI names."),
    )
    heap: str = field(
        default="2g",
        metadata=_of("PALIMPSEST_NEO4J_HEAP", read=_memory, about="Largest heap of the managed Neo4j."),
    )
    page_cache: str = field(
        default="1g",
        metadata=_of("PALIMPSEST_NEO4J_PAGECACHE", read=_memory, about="Page cache of the managed Neo4j."),
    )
    bolt_port: int | None = field(
        default=None,
        metadata=_of(
            "PALIMPSEST_BOLT_PORT",
            read=_whole(1, 65535),
            about="Bolt port of the managed Neo4j; by default a free one, remembered in the home.",
        ),
    )
    browser_port: int | None = field(
        default=None,
        metadata=_of(
            "PALIMPSEST_BROWSER_PORT",
            read=_whole(1, 65535),
            about="Port of Neo4j Browser on the managed Neo4j; by default a free one, remembered in the home.",
        ),
    )

    __repr__ = masked_repr

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] | None = None, **overrides: Any) -> Settings:
        """Settings from `environ` (default: the process's), where `overrides`, by field name, win unless None.

        Raises SettingsError that lists every fault: the variable, its value, and what is allowed.
        """
        environ = os.environ if environ is None else environ
        unknown = sorted(overrides.keys() - {f.name for f in fields(cls)})
        faults = [f"{name}: no such setting" for name in unknown]
        values: dict[str, Any] = {}
        given: set[str] = set()
        for f in fields(cls):
            source, raw = _find(f, environ, overrides)
            if raw is None:
                continue
            given.add(f.name)
            try:
                values[f.name] = f.metadata["read"](raw)
            except ValueError as fault:
                shown = repr(re.sub(r"//[^/]*@", "//***@", raw))
                faults.append(f"{source}={shown}: must be {fault}")
        faults += _together(values, given)
        if faults:
            raise SettingsError("\n".join(["The settings are wrong:", *(f"  {fault}" for fault in faults)]))
        return cls(**values)


def _find(f: Field[Any], environ: Mapping[str, str], overrides: Mapping[str, Any]) -> tuple[str, str | None]:
    """Where a setting's text comes from, and the text."""
    given = overrides.get(f.name)
    if given is not None and str(given) != "":
        return f.name, str(given)
    for variable in f.metadata["variables"]:
        if raw := environ.get(variable, "").strip():
            return variable, raw
    return "", None


def _together(values: Mapping[str, Any], given: Set[str]) -> list[str]:
    """Faults that only show when settings are seen together."""
    faults = []
    if "neo4j_uri" in given and "neo4j_password" not in given:
        faults.append("NEO4J_PASSWORD is not set: must be the password on the server that NEO4J_URI names")
    bolt, browser = values.get("bolt_port"), values.get("browser_port")
    if bolt is not None and bolt == browser:
        faults.append(f"PALIMPSEST_BROWSER_PORT={browser}: must not be the same as PALIMPSEST_BOLT_PORT")
    return faults
