"""Links that open Neo4j Browser with a statement filled in.

Browser takes the statement from the address, puts it into its editor, and waits for somebody to run it. It takes no
parameters there, so their values stand in the text, each as a literal of Cypher that nothing in it can end.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol
from urllib.parse import quote, urlsplit

from graph.statements import LANGUAGE, Statement
from web.auth import is_loopback

MOST_LINK: Final = 12_000  # characters: what every browser and proxy on the way still takes
_PARTS = re.compile(r"""(//[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")|\$([A-Za-z_]\w*)""", re.DOTALL)
_HEADER = re.compile(r"(?://[^\n]*\n)*")


class Reached(Protocol):
    """What is needed of `graph.server.Endpoint`."""

    @property
    def uri(self) -> str: ...
    @property
    def username(self) -> str: ...
    @property
    def http_url(self) -> str | None: ...


@dataclass(frozen=True, kw_only=True)
class Browser:
    """base: of Neo4j Browser; None where whoever looks can't reach it.  login: the server, and as whom.

    statements: by name; those that `link` may be asked for.  ns: fills in the parameter of that name.
    """

    base: str | None
    login: str
    statements: Mapping[str, Statement] = field(default_factory=dict)
    ns: str | None = None

    @classmethod
    def seen_from(cls, endpoint: Reached, host: str, statements: Mapping[str, Statement], ns: str) -> Browser:
        """For somebody who reached the service as `host`: the managed server's Browser is on the same machine only."""
        near = is_loopback(urlsplit(f"//{host}").hostname or "")
        return cls(base=endpoint.http_url if near else None, login=login(endpoint), statements=statements, ns=ns)

    def text(self, name: str, **values: Any) -> str:
        """The statement `name` with its parameters filled in."""
        return filled(self.statements[name], {"ns": self.ns} | values)

    def link(self, name: str, **values: Any) -> str | None:
        """The address that opens it; None without a Browser or such a statement, for want of a value, or as too long."""
        statement = self.statements.get(name)
        if self.base is None or statement is None or statement.params.keys() - {"ns", *values}:
            return None
        found = self.address(self.text(name, **values))
        return found if len(found) <= MOST_LINK else None

    def address(self, text: str) -> str:
        """The address that opens Neo4j Browser, with `text` in its editor if there is any."""
        editor = f"&cmd=edit&arg={quote(text, safe='')}" if text else ""
        return f"{self.base}/browser/?dbms={quote(self.login, safe='')}{editor}"


def login(endpoint: Reached) -> str:
    """The server as Browser's login wants it: `bolt://neo4j@127.0.0.1:7687`."""
    scheme, _, place = endpoint.uri.partition("://")
    return f"{scheme}://{endpoint.username}@{place}"


def filled(statement: Statement, values: Mapping[str, Any]) -> str:
    """The statement's purpose and text, each parameter as a literal. Raises KeyError for one without a value."""
    text = statement.text.removeprefix(LANGUAGE)
    body = text[len(_HEADER.match(text)[0]) :].strip()  # type: ignore[index]  # it matches nothing too
    return f"// {statement.purpose}\n{_PARTS.sub(lambda part: part[1] or literal(values[part[2]]), body)}"


def literal(value: Any) -> str:
    """`value` as Cypher writes it: a text, a whole number, a truth value, null, or a list of such."""
    if isinstance(value, str):
        return "'" + "".join(_char(char) for char in value) + "'"
    if isinstance(value, Sequence):
        return "[" + ", ".join(literal(item) for item in value) + "]"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(int(value))


def _char(char: str) -> str:
    if char in "\\'":
        return "\\" + char
    if char.isprintable():
        return char
    units = char.encode("utf-16-be")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
