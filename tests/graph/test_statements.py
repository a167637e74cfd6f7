"""Statement files: what the loader refuses, and what the real server makes of those that ship."""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import neo4j
import numpy as np
import pytest

from graph import schema
from graph.errors import StatementError
from graph.slots import FIRST, SLOTS
from graph.statements import FOLDER, Chart, Statement, load, parse
from graph.store import Store, vector

SHIPPED = load()
ROOT = Path(__file__).parents[2]
UNSCOPED = {"key.create", "key.list", "key.revoke"}  # outside schema/, and by nature of every namespace
SCANS = re.compile(r"AllNodesScan|LabelScan|ByLabelsScan|RelationshipsScan|RelationshipTypeScan|NodeIndexScan")
VALUES = {
    "string": "x",
    "integer": 3,
    "float": 0.5,
    "boolean": True,
    "map": {"a": 1},
    "any": "x",
    "bytes": b"x",
    "vector": vector(np.ones(384, np.float32)),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def written(folder: Path, text: str, name: str = "note/one.cypher") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def test_a_statement_takes_its_name_from_its_path_and_its_contract_from_its_header(folder):
    text = (
        "// Finds things.\n// They are few.\n// params: ns: string, ids: list<string>,\n//   k: integer\n"
        "// returns: id: string\n// needs: a, b\nMATCH (n {ns: $ns}) WHERE n.id IN $ids // not $this\n"
        "RETURN n.id AS id, '$nor this' AS x LIMIT $k\n"
    )
    written(folder, text, "note/deep/one.cypher")
    (statement,) = load(folder).values()
    assert statement.name == "note.deep.one"
    assert statement.purpose == "Finds things."
    assert statement.params == {"ns": "string", "ids": "list<string>", "k": "integer"}
    assert list(statement.returns) == ["id"]
    assert statement.needs == ("a", "b")
    assert statement.scoped
    assert statement.text == "CYPHER 25\n" + text


def test_a_variant_has_its_suffix_behind_the_words_that_vary(folder):
    text = (
        "// Finds.\n// params: embedding: vector\n// returns: id: string\n// variants: b, c of near, n.embedding\n"
        "// needs: near, page\nMATCH (n) SEARCH n IN (VECTOR INDEX near FOR $embedding LIMIT 1)\n"
        "RETURN n.embedding AS near_embedding, n.embeddings, x.near\n"
    )
    written(folder, text)
    found = load(folder)
    assert list(found) == ["note.one", "note.one_b", "note.one_c"]
    assert found["note.one"].needs == ("near", "page")
    other = found["note.one_b"]
    assert (other.variant_of, other.needs, other.params) == ("note.one", ("near_b", "page"), {"embedding": "vector"})
    assert "VECTOR INDEX near_b FOR $embedding" in other.text
    assert "RETURN n.embedding_b AS near_embedding, n.embeddings, x.near\n" in other.text


def test_values_for_neo4j_browser_are_no_part_of_the_statement(folder):
    text = (
        "// Finds.\n// chart: bar x=id y=times\n// params: ns: string, k: integer, least: float, all: boolean\n"
        "// returns: id: string, times: integer\n"
        ":param ns => 'default';\n:param k => -3;\n:param least => 0.5;\n:param all => false;\n"
    )
    body = "MATCH (n {ns: $ns})\nWHERE n.x > $least OR $all\nRETURN n.id AS id, count(*) AS times LIMIT $k\n"
    statement = parse(written(folder, text + body), "x")
    assert statement.defaults == {"ns": "default", "k": -3, "least": 0.5, "all": False}
    assert statement.chart == Chart(kind="bar", x="id", y="times")
    assert ":param" not in statement.text
    assert statement.text.endswith(body)


@pytest.mark.parametrize(
    ("text", "line", "fault"),
    [
        ("MATCH (n) RETURN n\n", 1, "no `// params:` line"),
        ("// Purpose.\n// returns: -\nRETURN 1\n", 1, "no `// params:` line"),
        ("// Purpose.\n// params: -\nRETURN 1\n", 1, "no `// returns:` line"),
        ("// params: -\n// returns: -\nRETURN 1\n", 1, "must say the purpose"),
        ("// Purpose.\n// params: -\n// returns: -\n\nRETURN $ns\n", 5, r"declares \[\], uses \['ns'\]"),
        ("// Purpose.\n// params: ns: string\n// returns: -\nRETURN 1\n", 1, r"declares \['ns'\], uses \[\]"),
        ("// Purpose.\n// params: ns: text\n// returns: -\nRETURN $ns\n", 2, "'ns: text' is not `name: type`"),
        ("// Purpose.\n// params: ns\n// returns: -\nRETURN $ns\n", 2, "'ns' is not `name: type`"),
        ("// Purpose.\n// params: -\n// returns: id: lists<string>\nRETURN 1 AS id\n", 3, "is not `name: type`"),
        ("// Purpose.\n// params: -\n// returns: id: list<string\nRETURN 1 AS id\n", 3, "is not `name: type`"),
        ("// Purpose.\n// params: a: map>\n// returns: -\nRETURN $a\n", 2, "is not `name: type`"),
        ("// Purpose.\n// params: -\n// returns: -\n// variants: b of x.y\nRETURN 1\n", 4, "varies 'x.y', which"),
        ("// Purpose.\n// params: -\n// returns: -\n// variants: b\nRETURN 1\n", 4, "must say `variants"),
        ("// Purpose.\n// params: k: integer\n// returns: -\n:param k = 3;\nRETURN $k\n", 4, "must say `:param NAME"),
        ("// Purpose.\n// params: k: integer\n// returns: -\n:param k => 3\nRETURN $k\n", 4, "must say `:param NAME"),
        ("// Purpose.\n// params: k: integer\n// returns: -\n:param l => 3;\nRETURN $k\n", 4, "must say `:param NAME"),
        ("// P.\n// params: k: any, l: any\n// returns: -\n:param k => 3;\nRETURN $k, $l\n", 1, "gives no value to l"),
        ("// P.\n// chart: pie x=a y=b\n// params: -\n// returns: a: any, b: any\nRETURN 1\n", 2, "must say `chart"),
        ("// P.\n// chart: bar x=a y=c\n// params: -\n// returns: a: any, b: any\nRETURN 1\n", 2, "must say `chart"),
        ("// Purpose.\n// params: a: map, a: map\n// returns: -\nRETURN $a\n", 2, "a is declared twice"),
    ],
)
def test_a_faulty_header_is_refused_with_file_and_line(folder, text, line, fault):
    path = written(folder, text)
    with pytest.raises(StatementError, match=fault) as error:
        load(folder)
    assert str(error.value).startswith(f"{path}:{line}: ")


def test_an_empty_folder_is_refused(folder):
    with pytest.raises(StatementError, match=r"holds no \.cypher file"):
        load(folder)


def test_a_parameter_inside_a_comment_or_a_text_counts_as_none(folder):
    path = written(folder, "// P.\n// params: -\n// returns: -\n/* $a\n$b */ RETURN '$c \\' $d', \"$e\" // $f\n")
    assert parse(path, "x").params == {}


@pytest.mark.parametrize("name", SHIPPED)
def test_a_statement_works_inside_a_namespace(name):
    """`ns` comes from the store alone; what declares it uses it, or the loader would have refused the file."""
    if not name.startswith("schema."):
        assert SHIPPED[name].scoped is (name not in UNSCOPED)


@pytest.mark.parametrize("name", SHIPPED)
def test_a_statement_has_a_caller(name, named_in_sources):
    name = SHIPPED[name].variant_of or name
    if not re.fullmatch(r"schema\.\d{3}_\w+", name):  # migrations are found by their numbers
        assert name in named_in_sources


@pytest.fixture(scope="module")
def named_in_sources() -> set[str]:
    """Every text that stands as such in the product's Python, its benchmark included."""
    found = set()
    for package in ("graph", "recall", "web", "seeds", "tests/bench"):
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    found.add(node.value)
    return found


def value_of(kind: str) -> Any:
    """A value of a header's type."""
    return [value_of(kind[5:-1])] if kind.startswith("list<") else VALUES[kind]


def parameters(statement: Statement) -> dict[str, Any]:
    found = {name: value_of(kind) for name, kind in statement.params.items()}
    if "options" in found:
        found["options"] = {"indexConfig": schema.vector_config(384)}
    return found


def operators(plan: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(operator, details) of a plan and all its children."""
    yield plan["operatorType"].partition("@")[0], plan["args"].get("Details", "")
    for child in plan.get("children", ()):
        yield from operators(child)


def explained(driver: neo4j.Driver, statement: Statement) -> Mapping[str, Any]:
    text = statement.text.replace("CYPHER 25", "CYPHER 25 EXPLAIN", 1)
    summary = driver.execute_query(text, parameters(statement)).summary  # type: ignore[arg-type]
    assert summary.plan is not None
    return summary.plan


def problems(store: Store, driver: neo4j.Driver, statement: Statement) -> list[str]:
    """What stands against running `statement`: indexes that aren't ready, a plan that is refused or scans."""
    rows = {row["name"]: row["state"] for row in store.rows("schema.indexes")}
    states = {name: rows.get(name, "MISSING") for name in statement.needs}
    found = [f"{name} is {state}" for name, state in states.items() if state != "ONLINE"]
    try:
        plan = list(operators(explained(driver, statement)))
    except neo4j.exceptions.Neo4jError as error:
        return [*found, f"refused: {error.message}"]
    if statement.scoped:
        found += [f"scans: {name} {details}" for name, details in plan if SCANS.search(name)]
    return found


@pytest.fixture(scope="module")
def every_slot(service) -> Iterator[None]:
    """Indexes of the slots that no model is in."""
    store = service.store
    for slot in SLOTS:
        schema.vector_indexes(store, slot, 384)
    while not all(row["state"] == "ONLINE" for row in store.rows("schema.indexes")):
        time.sleep(0.1)
    yield
    for name in (name for slot in SLOTS[1:] for name in slot.indexes):
        store.auto("schema.drop_index", name=name)


def test_a_hint_asks_for_a_seek():
    """Without the word Neo4j may take the index and yet read all of it, every namespace's, where it holds little."""
    hints = [(name, hint) for name, each in SHIPPED.items() for hint in re.findall(r"USING INDEX (\w+)", each.text)]
    assert hints
    assert [name for name, hint in hints if hint != "SEEK"] == []


@pytest.mark.usefixtures("every_slot")
@pytest.mark.parametrize("name", SHIPPED)
def test_the_server_plans_a_statement_without_a_scan_and_with_its_indexes_online(store, driver, name):
    assert problems(store, driver, SHIPPED[name]) == []


@pytest.mark.usefixtures("every_slot")
@pytest.mark.parametrize("name", [name for name, statement in SHIPPED.items() if statement.scoped])
def test_every_index_that_a_plan_uses_is_watched(store, driver, name):
    statement = SHIPPED[name]
    by_properties = {
        (frozenset(row["labelsOrTypes"]), tuple(row["properties"])): row["name"]
        for row in driver.execute_query(
            "SHOW INDEXES YIELD name, labelsOrTypes, properties, type WHERE type = 'RANGE'"
        ).records
    }
    used = set()
    for _, details in operators(explained(driver, statement)):
        for label, properties in re.findall(r"(?:UNIQUE|INDEX) \w+:(\w+)\(([\w, ]+)\)", details):
            index = by_properties.get((frozenset({label}), tuple(properties.split(", "))))
            used |= {index} if index else set()
    assert used <= schema.needed(store)


def test_the_check_finds_each_index_that_is_dropped(service, store, driver):
    """Drops every needed index in turn and puts it back as the schema would."""
    constraints = {row["name"] for row in driver.execute_query("SHOW CONSTRAINTS YIELD name").records}
    migrations = {path.stem[4:]: f"schema.{path.stem}" for path in FOLDER.glob("schema/[0-9]*.cypher")}
    needed = schema.needed(store)
    assert needed >= {"recallable_id", "current_text", "superseded_text", "current_embedding", "superseded_embedding"}
    try:
        for index in sorted(needed):
            statement = min((s for s in SHIPPED.values() if index in s.needs), key=lambda s: len(s.text))
            driver.execute_query(f"DROP {'CONSTRAINT' if index in constraints else 'INDEX'} {index}")
            try:
                assert f"{index} is MISSING" in problems(store, driver, statement), statement.name
            finally:
                if index in migrations:
                    store.auto(migrations[index])
                else:
                    schema.vector_indexes(store, FIRST, service.models.primary.embedder.dimensions)
                schema.await_online(store)
    finally:  # the plans went with the indexes; the next recall must not wait for a new one
        memory = service.dispatcher.runtime.states["memory"]
        memory.warmer.now()
    assert set(schema.states(store).values()) == {"ONLINE"}


def test_recall_s_names_are_there_before_the_first_note(service):
    """A new name makes Neo4j plan the statement anew, and the first recall after the first note would wait for it."""
    made = service.store.statements["schema.031_names"].text
    code = re.sub(r"//[^\n]*|'[^']*'|\$ask\.\w+", "", service.store.statements["recall.candidates"].text)
    labels = set(re.findall(r"\w:([A-Z][a-z]\w+)", code))
    relations = set(re.findall(r"[:|]\s*([A-Z_]{4,})\b", code))
    properties = set(re.findall(r"\b\w+\.([a-z_]+)\b(?!\()", code)) - {"similarity", "index", "fulltext"}
    assert {"Current", "SUPERSEDES", "superseded_ts"} <= labels | relations | properties
    assert {name for name in labels | relations | properties if f"'{name}'" not in made} == set()
