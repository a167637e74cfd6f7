"""Settings: defaults, what the environment sets, and faults reported all at once."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import platformdirs
import pytest

from graph.errors import SettingsError
from graph.settings import URI_SCHEMES, Settings, memory_bytes

OWN_SERVER = {"NEO4J_URI": "neo4j://db.example:7687", "NEO4J_PASSWORD": "pa55word"}


def test_an_empty_environment_gives_the_defaults() -> None:
    settings = Settings.from_environment({})
    assert settings == Settings()
    assert (settings.host, settings.port, settings.threads, settings.max_body_mb) == ("127.0.0.1", 8765, 8, 64)
    assert settings.home == platformdirs.user_data_path("palimpsest")
    assert settings.cache == platformdirs.user_cache_path("palimpsest")
    assert settings.neo4j_uri is None
    assert (settings.neo4j_username, settings.neo4j_database) == ("neo4j", "neo4j")


def test_the_process_environment_is_read_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PALIMPSEST_PORT", "9001")
    assert Settings.from_environment().port == 9001


@pytest.mark.parametrize(
    ("variable", "raw", "field", "value"),
    [
        ("PALIMPSEST_HOME", "/srv/memory", "home", Path("/srv/memory")),
        ("PALIMPSEST_CACHE", "/srv/cache", "cache", Path("/srv/cache")),
        ("PALIMPSEST_HOST", "0.0.0.0", "host", "0.0.0.0"),
        ("PALIMPSEST_PORT", "0", "port", 0),
        ("PALIMPSEST_THREADS", "16", "threads", 16),
        ("PALIMPSEST_MAX_BODY_MB", "1", "max_body_mb", 1),
        ("PALIMPSEST_EMBEDDER", "none", "embedder", "none"),
        ("PALIMPSEST_LINKER", "off", "linker", "off"),
        ("PALIMPSEST_MULTILINGUAL", "ALL", "multilingual", "all"),
        ("PALIMPSEST_OPENAI_URL", "http://127.0.0.1:8000/v1/", "openai_url", "http://127.0.0.1:8000/v1"),
        ("PALIMPSEST_TRACE_DAYS", "7", "trace_days", 7),
        ("OPENAI_API_KEY", "k", "openai_key", "k"),
        ("NEO4J_USERNAME", "ann", "neo4j_username", "ann"),
        ("NEO4J_USER", "ann", "neo4j_username", "ann"),
        ("NEO4J_PASSWORD", "pa55word", "neo4j_password", "pa55word"),
        ("NEO4J_DATABASE", "notes", "neo4j_database", "notes"),
        ("PALIMPSEST_NEO4J_HEAP", "512M", "heap", "512m"),
        ("PALIMPSEST_NEO4J_PAGECACHE", "3g", "page_cache", "3g"),
        ("PALIMPSEST_BOLT_PORT", "7687", "bolt_port", 7687),
        ("PALIMPSEST_BROWSER_PORT", "7474", "browser_port", 7474),
    ],
)
def test_each_variable_sets_its_field(variable: str, raw: str, field: str, value: object) -> None:
    assert getattr(Settings.from_environment({variable: raw}), field) == value


@pytest.mark.parametrize("variable", ["NEO4J_URI", "NEO4J_URL"])
@pytest.mark.parametrize("scheme", URI_SCHEMES)
def test_each_scheme_of_an_own_server_is_accepted_under_both_names(variable: str, scheme: str) -> None:
    uri = f"{scheme}://db.example:7687"
    assert Settings.from_environment({variable: uri, "NEO4J_PASSWORD": "x"}).neo4j_uri == uri


def test_a_relative_home_is_made_absolute_and_a_tilde_is_the_user_s() -> None:
    settings = Settings.from_environment({"PALIMPSEST_HOME": "here", "PALIMPSEST_CACHE": "~/jars"})
    assert settings.home == Path.cwd() / "here"
    assert settings.cache == Path.home() / "jars"


def test_an_empty_variable_counts_as_not_set() -> None:
    assert Settings.from_environment({"PALIMPSEST_PORT": "", "NEO4J_URI": " "}) == Settings()


def test_an_override_wins_over_the_environment_unless_it_is_none() -> None:
    environ = {"PALIMPSEST_PORT": "9001", "PALIMPSEST_HOST": "::1"}
    settings = Settings.from_environment(environ, port=9002, host=None)
    assert (settings.port, settings.host) == (9002, "::1")


@pytest.mark.parametrize(
    ("environ", "said"),
    [
        ({"PALIMPSEST_PORT": "65536"}, "PALIMPSEST_PORT='65536': must be a whole number from 0 to 65535"),
        ({"PALIMPSEST_OPENAI_URL": "http://me:pw@x/v1"}, "PALIMPSEST_OPENAI_URL='http://***@x/v1': must be an address"),
        ({"PALIMPSEST_MULTILINGUAL": "some"}, "PALIMPSEST_MULTILINGUAL='some': must be auto, all or off"),
        ({"PALIMPSEST_BOLT_PORT": "0"}, "PALIMPSEST_BOLT_PORT='0': must be a whole number from 1 to 65535"),
        ({"PALIMPSEST_THREADS": "-1"}, "PALIMPSEST_THREADS='-1': must be a whole number from 1 to 256"),
        ({"PALIMPSEST_NEO4J_HEAP": "2"}, "PALIMPSEST_NEO4J_HEAP='2': must be a memory size"),
        ({"PALIMPSEST_NEO4J_HEAP": "31m"}, "PALIMPSEST_NEO4J_HEAP='31m': must be a memory size of 32m or more"),
        ({**OWN_SERVER, "NEO4J_URI": "http://db.example"}, "NEO4J_URI='http://db.example': must be an address"),
        ({**OWN_SERVER, "NEO4J_URI": "bolt://"}, "NEO4J_URI='bolt://': must be an address"),
        ({**OWN_SERVER, "NEO4J_URI": "bolt://h:99999"}, "NEO4J_URI='bolt://h:99999': must be an address"),
        ({"PALIMPSEST_LINKER": "on"}, "PALIMPSEST_LINKER='on': must be names or off"),
        ({"NEO4J_URI": "bolt://db.example"}, "NEO4J_PASSWORD is not set"),
        ({"PALIMPSEST_BOLT_PORT": "7000", "PALIMPSEST_BROWSER_PORT": "7000"}, "not be the same as"),
    ],
)
def test_a_fault_names_the_variable_its_value_and_what_is_allowed(environ: dict[str, str], said: str) -> None:
    with pytest.raises(SettingsError) as caught:
        Settings.from_environment(environ)
    assert said in str(caught.value)


def test_all_faults_are_reported_at_once() -> None:
    environ = {"PALIMPSEST_PORT": "x", "PALIMPSEST_NEO4J_HEAP": "big", "NEO4J_URI": "http://x"}
    with pytest.raises(SettingsError) as caught:
        Settings.from_environment(environ, colour="red")
    lines = str(caught.value).splitlines()[1:]
    names = ["colour", "PALIMPSEST_PORT", "NEO4J_URI", "PALIMPSEST_NEO4J_HEAP", "NEO4J_PASSWORD"]
    assert len(lines) == len(names)
    assert all(any(line.strip().startswith(name) for line in lines) for name in names)


def test_secrets_are_shown_neither_in_repr_nor_in_faults() -> None:
    settings = Settings.from_environment(OWN_SERVER)
    assert "pa55word" not in repr(settings)
    assert "neo4j_password=***" in repr(settings)
    with pytest.raises(SettingsError) as caught:
        Settings.from_environment({"NEO4J_URI": "bolt://ann:pa55word@db.example"})
    assert "pa55word" not in str(caught.value)


def test_an_unset_secret_is_seen_to_be_unset() -> None:
    assert "neo4j_password=None" in repr(Settings())


def test_settings_are_frozen_and_keyword_only() -> None:
    positional: Any = Settings
    with pytest.raises(AttributeError):
        Settings().port = 1  # type: ignore[misc]
    with pytest.raises(TypeError):
        positional(Path("/srv/memory"))


def test_every_field_says_which_variable_sets_it_and_what_it_is() -> None:
    for field in fields(Settings):
        assert field.metadata["variables"], field.name
        assert field.metadata["about"].endswith("."), field.name


@pytest.mark.parametrize(("size", "expected"), [("64k", 65_536), ("512m", 536_870_912), ("2g", 2_147_483_648)])
def test_memory_sizes_are_powers_of_1024(size: str, expected: int) -> None:
    assert memory_bytes(size) == expected
