"""Neo4j Browser's style sheet and favourites."""

import re
from pathlib import Path

import pytest

from graph.ontology import LABELS, RELATIONS, relation_type

FOLDER = Path(__file__).parents[2] / "seeds" / "browser"
FAVORITES = sorted((FOLDER / "favorites").glob("*.cypher"))
LAYERS = ("Current", "Superseded", "Deleted")


@pytest.fixture(scope="module")
def sheet() -> dict[str, dict[str, str]]:
    """Rules in their order, as Neo4j Browser 5.24 reads them: no comments, and no `:` or `;` inside a value."""
    text = (FOLDER / "style.grass").read_text()
    rules = {}
    for selector, body in re.findall(r"([\w.]+)\s*\{((?:'[^']*'|[^'}])*)\}", text):
        lines = [line.split(":") for line in body.split(";") if line.strip()]
        rules[selector] = {name.strip(): value.strip().strip("'") for name, value in lines}
    assert re.sub(r"([\w.]+)\s*\{((?:'[^']*'|[^'}])*)\}", "", text).strip() == "", "something between the rules"
    return rules


def drawn(sheet: dict[str, dict[str, str]], *labels: str) -> dict[str, str]:
    """What a node of these labels looks like: all rules that match, the last one wins."""
    found: dict[str, str] = {}
    for selector, properties in sheet.items():
        tag, *wanted = selector.split(".")
        if tag == "node" and set(wanted) <= set(labels):
            found |= properties
    return found


@pytest.mark.parametrize("label", [label for label in LABELS if label != "Entity"])
def test_the_layers_of_a_label_look_different(sheet, label):
    current, superseded, deleted = (drawn(sheet, label, "Recallable", layer) for layer in LAYERS)
    assert current["color"] == sheet[f"node.{label}"]["color"]
    assert superseded["color"] == sheet["node.Superseded"]["color"] != current["color"]
    assert deleted["color"] == sheet["node.Deleted"]["color"] != superseded["color"]
    assert float(current["border-width"][:-2]) > float(superseded["border-width"][:-2])
    assert current["caption"] == superseded["caption"] == "{title}"


def test_browser_invents_no_colour_for_a_label_of_ours(sheet):
    """It appends a rule for a label without a colour, and that would lie over the layers."""
    labels = {"Recallable", "Task", "Turn", "Trace", "Profile", "Passage", "Serve", "Namespace", "ApiKey", *LABELS, *LAYERS}
    labels |= {"Binding", "Signal", "Audit", "Model"}
    assert [label for label in sorted(labels) if "color" not in sheet.get(f"node.{label}", {})] == []
    assert [label for label in sorted(labels - set(LAYERS)) if "caption" not in sheet[f"node.{label}"]] == []


def test_supersession_is_the_strongest_edge_and_says_its_name(sheet):
    widths = {name: float(rule["shaft-width"][:-2]) for name, rule in sheet.items() if name.startswith("relationship")}
    assert max(widths, key=widths.__getitem__) == "relationship.SUPERSEDES"
    rule = sheet["relationship.SUPERSEDES"]
    assert rule["caption"] == "<type>"
    assert widths["relationship.SUPERSEDES"] > float(rule["font-size"][:-2]), "else the caption does not fit inside"


def test_the_sheet_names_only_relations_that_exist(sheet):
    known = {relation_type(relation) for relation in RELATIONS}
    known |= {"HAS_PASSAGE", "HAS_TURN", "OF_TASK", "ADMITTED", "DROPPED", "BOUND_TO"}
    assert {name.partition(".")[2] for name in sheet if name.startswith("relationship.")} <= known


@pytest.mark.parametrize("path", FAVORITES, ids=lambda path: path.stem)
def test_a_favourite_begins_with_the_name_that_browser_shows(path):
    first, second, *_ = path.read_text().splitlines()
    assert first.startswith("// Palimpsest: ")
    assert not second.startswith("//")
    assert "$" not in path.read_text(), "a parameter would have to be set first"


@pytest.mark.parametrize("path", FAVORITES, ids=lambda path: path.stem)
def test_a_favourite_runs_as_it_stands(service, path):
    """Needs the fixture `service`. The store runs only statements of `cypher/`, so this asks its driver."""
    service.dispatcher.runtime.store._driver.execute_query(path.read_text())
