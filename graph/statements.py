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
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from graph.errors import StatementError

FOLDER = Path(__file__).resolve().parent.parent / "cypher"
LANGUAGE = "CYPHER 25\n"  # a server may still default to Cypher 5, which knows neither SEARCH nor dynamic labels
TYPES = re.compile(r"(list<)*(string|integer|float|boolean|map|vector|bytes|node|datetime|any)>*$")
_SECTION = re.compile(r"(params|returns|needs|variants):\s*(.*)")
_USED = re.compile(r"\$([A-Za-z_]\w*)")
_NOT_CODE = re.compile(r"""//[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*\"""", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Statement:
    """One statement: `params` and `returns` map names to types, in the header's order; `needs` names indexes.

    variants: by name, the same statement on other indexes.  variant_of: the file's statement, for one of these.
    """

    name: str
    purpose: str
    text: str
    params: Mapping[str, str]
    returns: Mapping[str, str]
    needs: tuple[str, ...]
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
    params = _typed(path, sections["params"])
    used = set(_USED.findall(_NOT_CODE.sub(" ", text)))
    if used != set(params):
        line = next((n for n, t in enumerate(lines, 1) if any(f"${u}" in t for u in used - set(params))), 1)
        raise StatementError(f"{path}:{line}: declares {sorted(params)}, uses {sorted(used)}")
    statement = Statement(
        name=name,
        purpose=header[0].removeprefix("//").strip(),
        text=LANGUAGE + text,
        params=params,
        returns=_typed(path, sections["returns"]),
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
