"""Questions that the graph answers about its own use: the statements of `cypher/analytics/`, by name.

Each can be pasted into Neo4j Browser as it stands: the `:param` lines of the file give its parameters the values that they
have here too when nobody gives others. Where Cypher is not enough a statement gives the edges and `graph.ranking` ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from graph.errors import NotFound
from graph.fields import Choice, Request, Text, Whole, shown_time
from graph.ranking import by_pagerank
from graph.statements import Statement
from graph.store import Row, Space, Store

ANALYTICS: Final[Mapping[str, str]] = {
    "abstention_rate": "analytics.abstention_rate",
    "admitted_never_useful": "analytics.admitted_never_useful",
    "churn": "analytics.churn",
    "composition": "analytics.composition",
    "contradictions": "analytics.contradictions",
    "decay_forecast": "analytics.decay_forecast",
    "dropped_for_budget": "analytics.dropped_for_budget",
    "duplicates": "analytics.duplicates",
    "expiring": "analytics.expiring",
    "fading": "analytics.fading",
    "feedback": "analytics.feedback",
    "growth": "analytics.growth",
    "hubs": "analytics.hubs",
    "irrelevant_rate": "analytics.irrelevant_rate",
    "never_used": "analytics.never_used",
    "orphans": "analytics.orphans",
    "pagerank": "analytics.pagerank",
    "posteriors": "analytics.posteriors",
    "recalls": "analytics.recalls",
    "stale_risk": "analytics.stale_risk",
    "supersession_chains": "analytics.supersession_chains",
    "top_memories": "analytics.top_memories",
    "weights_over_time": "analytics.weights_over_time",
}
RANKED: Final[Mapping[str, Callable[[Sequence[Row], int], list[Row]]]] = {"pagerank": by_pagerank}
RANKED_COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {"pagerank": ("id", "title", "label", "kind", "rank", "edges_in")}
DAYS: Final = 30
LIMIT: Final = 20
TIMEOUT_S: Final = 30.0


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What may be given; a question takes what it knows of these.

    days: back from now.  ahead: days from now.  limit: rows at most, where a row is not a period.  per: how long a period
    is.  percent: hundredths of salience.  profile: by its id.  nodes: how many notes, and how many entities, are ranked.
    """

    days: int = DAYS
    ahead: int = 30
    limit: int = LIMIT
    per: str = "day"
    percent: int = 5
    profile: str = "default"
    nodes: int = 10_000


class AskedRequest(Request):
    """Every parameter of any question; `request_of` gives those of one."""

    makes = Asked
    days = Whole(low=1, high=3_650)
    ahead = Whole(low=1, high=3_650)
    limit = Whole(low=1, high=1_000)
    per = Choice(("day", "week", "month"))
    percent = Whole(low=1, high=99)
    profile = Text(most=128, least=1)
    nodes = Whole(low=1, high=100_000)


def named(statements: Mapping[str, Statement], name: str) -> Statement:
    """Raises NotFound."""
    if name not in ANALYTICS:
        raise NotFound(f"no analytics {name!r}; there are {', '.join(ANALYTICS)}", "name")
    return statements[ANALYTICS[name]]


def taken(name: str, statement: Statement) -> list[str]:
    """The parameters that a caller may give."""
    return [*(param for param in statement.params if param != "ns"), *(["limit"] if name in RANKED else [])]


def columns(name: str, statement: Statement) -> list[str]:
    """Of the rows of an answer."""
    return list(RANKED_COLUMNS.get(name, statement.returns))


def request_of(statements: Mapping[str, Statement], name: str) -> AskedRequest:
    """The schema of one question, which refuses what it does not take. Raises NotFound."""
    return AskedRequest(only=taken(name, named(statements, name)))


def listed(store: Store) -> list[dict[str, Any]]:
    """Of each its name, what it is about, its parameters with their defaults, its columns, and how it is best drawn."""
    found = []
    for name in ANALYTICS:
        statement = named(store.statements, name)
        given = {param: getattr(Asked(), param) for param in taken(name, statement)}
        chart = statement.chart
        found.append(
            {
                "name": name,
                "about": statement.purpose,
                "parameters": given,
                "columns": columns(name, statement),
                "chart": {"kind": chart.kind, "x": chart.x, "y": chart.y} if chart else None,
            }
        )
    return found


def ask(space: Space, name: str, asked: Asked) -> dict[str, Any]:
    """`name`, `about`, `columns` and `rows`, a row being a mapping by column. Raises NotFound, StoreError."""
    statement = named(space.store.statements, name)
    given = {param: getattr(asked, param) for param in statement.params if param != "ns"}
    rows = space.rows(statement.name, timeout_s=TIMEOUT_S, **given)
    if name in RANKED:
        rows = RANKED[name](rows, asked.limit)
    names = columns(name, statement)
    shown = [{column: _plain(row[column]) for column in names} for row in rows]
    return {"name": name, "about": statement.purpose, "columns": names, "rows": shown}


def _plain(value: Any) -> Any:
    return shown_time(value.to_native()) if hasattr(value, "to_native") else value
