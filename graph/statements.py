"""Reads the statements of `cypher/` once, and refuses a file whose header and body disagree.

A file is one statement under a header of `//` comments:

    // One line of purpose; more lines may follow.
    // params: ns: string, ids: list<string>
    // returns: id: string, score: float
    // needs: recallable_id

`params`, `returns` and `needs` (indexes by name) may run over several lines; a continuation starts with `//  ` (two blanks).
The statement's name is its path with dots: `cypher/recall/candidates.cypher` is `recall.candidates`.

What Cypher takes no parameter for, the name of an index, is a variant of the file:

    // variants: b, multilingual of current_embedding, hit.vector

gives two more statements, NAME_b and NAME_multilingual, in which `_b` or `_multilingual` stands behind those words.

A statement that people paste into Neo4j Browser gives its parameters values there, below the comments, and may say how its
rows are best looked at:

    // chart: line x=day y=rate
    :param ns => 'default';
    :param days => 30;

Browser runs such lines before the statement. They are no Cypher: the server never sees them, and `defaults` holds them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from graph.errors import StatementError

FOLDER = Path(__file__).resolve().parent.parent / "cypher"
LANGUAGE = "CYPHER 25\n"  # a server may still default to Cypher 5, which knows neither SEARCH nor dynamic labels
TYPES = re.compile(r"(list<)*(string|integer|float|boolean|map|vector|bytes|node|datetime|any)>*$")
_CHART = re.compile(r"//\s*chart:\s*(?P<text>.*)")
_DRAWN = re.compile(r"(line|bar)\s+x=(\w+)\s+y=(\w+)\s*")
_PARAM = re.compile(r":param\b(?P<text>.*)")
_DEFAULT = re.compile(r"\s+(\w+)\s+=>\s+(?:'([^'\\]*)'|(-?\d+)|(-?\d+\.\d+)|(true|false));\s*")
_SECTION = re.compile(r"(params|returns|needs|variants):\s*(.*)")
_USED = re.compile(r"\$([A-Za-z_]\w*)")
_NOT_CODE = re.compile(r"""//[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*\"""", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Chart:
    """How rows are best looked at. x, y: columns; y is a number."""

    kind: Literal["line", "bar"]
    x: str
    y: str


@dataclass(frozen=True, kw_only=True)
class Statement:
    """One statement: `params` and `returns` map names to types, in the header's order; `needs` names indexes.

    defaults: values of its parameters in Neo4j Browser.  chart: None where a table says it all.
    variants: by name, the same statement on other indexes.  variant_of: the file's statement, for one of these.
    """

    name: str
    purpose: str
    text: str
    params: Mapping[str, str]
    returns: Mapping[str, str]
    needs: tuple[str, ...]
    defaults: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    chart: Chart | None = None
    variants: Mapping[str, Statement] = field(default_factory=dict)
    variant_of: str | None = None

    @property
    def scoped(self) -> bool:
        """Whether it works inside one namespace, which the store then puts into it."""
        return "ns" in self.params


def load(folder: Path = FOLDER) -> dict[str, Statement]:
    """All statements under `folder` by name. Raises StatementError naming file and line."""
    found = {}
    for path in sorted(folder.rglob("*.cypher")):
        statement = parse(path, ".".join(path.relative_to(folder).with_suffix("").parts))
        found[statement.name] = statement
        found |= statement.variants
    if not found:
        raise StatementError(f"{folder}: holds no .cypher file")
    return found


def parse(path: Path, name: str) -> Statement:
    """The statement of one file. Raises StatementError."""
    text = path.read_text("utf-8")
    lines = text.splitlines()
    header = lines[: _header_length(lines)]
    sections = _sections(path, header)
    if not header or header[0].startswith(("// params", "// returns", "// needs", "// variants")):
        raise StatementError(f"{path}:1: the first line must say the purpose")
    params, returns = _typed(path, sections["params"]), _typed(path, sections["returns"])
    used = set(_USED.findall(_NOT_CODE.sub(" ", text)))
    if used != set(params):
        line = next((n for n, t in enumerate(lines, 1) if any(f"${u}" in t for u in used - set(params))), 1)
        raise StatementError(f"{path}:{line}: declares {sorted(params)}, uses {sorted(used)}")
    statement = Statement(
        name=name,
        purpose=header[0].removeprefix("//").strip(),
        text=LANGUAGE + "".join(line for line in text.splitlines(keepends=True) if not _PARAM.match(line)),
        params=params,
        returns=returns,
        defaults=_defaults(path, lines, params),
        chart=_chart(path, header, returns),
        needs=tuple(_listed(sections["needs"][1])),
    )
    return replace(statement, variants={each.name: each for each in _variants(path, statement, sections["variants"])})


def _variants(path: Path, statement: Statement, section: tuple[int, str]) -> Iterator[Statement]:
    line, text = section
    suffixes, _, words = text.partition(" of ")
    varied = _listed(words)
    for word in varied:
        if not re.search(rf"(?<![\w$.]){re.escape(word)}\b", _NOT_CODE.sub(" ", statement.text)):
            raise StatementError(f"{path}:{line}: varies {word!r}, which the statement does not use")
    if text and not varied:
        raise StatementError(f"{path}:{line}: must say `variants: SUFFIX, .. of WORD, ..`")
    behind = re.compile(rf"(?<![\w$.])({'|'.join(re.escape(word) for word in varied)})\b")
    for suffix in _listed(suffixes):
        yield replace(
            statement,
            name=f"{statement.name}_{suffix}",
            text=behind.sub(rf"\1_{suffix}", statement.text),
            needs=tuple(f"{name}_{suffix}" if name in varied else name for name in statement.needs),
            variant_of=statement.name,
        )


def _defaults(path: Path, lines: list[str], params: Mapping[str, str]) -> dict[str, str | int | float | bool]:
    """Values by parameter, in the order of the lines."""
    found: dict[str, str | int | float | bool] = {}
    for number, line in enumerate(lines, 1):
        if not (given := _PARAM.match(line)):
            continue
        match = _DEFAULT.fullmatch(given["text"])
        if not match or match[1] not in params:
            raise StatementError(f"{path}:{number}: must say `:param NAME => VALUE;` of a parameter")
        name, text, whole, number_, truth = match.groups()
        found[name] = text if text is not None else int(whole) if whole else float(number_) if number_ else truth == "true"
    if found and (missing := [name for name in params if name not in found]):
        raise StatementError(f"{path}:1: gives no value to {', '.join(missing)}; Neo4j Browser would miss it")
    return found


def _chart(path: Path, header: list[str], returns: Mapping[str, str]) -> Chart | None:
    for number, line in enumerate(header, 1):
        if not (asked := _CHART.fullmatch(line)):
            continue
        match = _DRAWN.fullmatch(asked["text"])
        if not match or {match[2], match[3]} - returns.keys():
            raise StatementError(f"{path}:{number}: must say `chart: line|bar x=COLUMN y=COLUMN` of columns that it returns")
        return Chart(kind="line" if match[1] == "line" else "bar", x=match[2], y=match[3])
    return None


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _header_length(lines: list[str]) -> int:
    return next((n for n, line in enumerate(lines) if not line.startswith("//")), len(lines))


def _sections(path: Path, header: list[str]) -> dict[str, tuple[int, str]]:
    """Line number and joined text of each section."""
    found = {"params": (0, ""), "returns": (0, ""), "needs": (0, ""), "variants": (0, "")}
    current = None
    for number, line in enumerate(header, 1):
        body = line.removeprefix("//")
        if match := _SECTION.fullmatch(body.strip()):
            current = match[1]
            found[current] = (number, match[2])
        elif current and body.startswith("  "):
            found[current] = (found[current][0], f"{found[current][1]} {body.strip()}")
        else:
            current = None
    for section in ("params", "returns"):
        if not found[section][0]:
            raise StatementError(f"{path}:1: the header has no `// {section}:` line (write `-` for none)")
    return found


def _typed(path: Path, section: tuple[int, str]) -> dict[str, str]:
    """`name: type, ...` as a mapping; `-` is none."""
    line, text = section
    pairs: dict[str, str] = {}
    for part in text.split(",") if text.strip() != "-" else []:
        name, _, kind = (piece.strip() for piece in part.partition(":"))
        if not name.isidentifier() or not TYPES.match(kind) or kind.count("<") != kind.count(">"):
            raise StatementError(f"{path}:{line}: {part.strip()!r} is not `name: type`")
        if name in pairs:
            raise StatementError(f"{path}:{line}: {name} is declared twice")
        pairs[name] = kind
    return pairs
