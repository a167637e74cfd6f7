"""Questions that the graph answers about its own use: the statements of `cypher/analytics/`, by name.

Each can be pasted into Neo4j Browser as it stands, with the `:param` line from its header.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from graph.errors import NotFound
from graph.fields import Request, Whole, shown_time
from graph.store import Space, Store

ANALYTICS: Final[Mapping[str, str]] = {
    "abstention_rate": "analytics.abstention_rate",
    "admitted_never_useful": "analytics.admitted_never_useful",
    "dropped_for_budget": "analytics.dropped_for_budget",
    "irrelevant_rate": "analytics.irrelevant_rate",
}
DAYS: Final = 30
LIMIT: Final = 20


@dataclass(frozen=True, kw_only=True)
class Asked:
    """days: back from now.  limit: rows at most, where a row is not a day."""

    days: int = DAYS
    limit: int = LIMIT


class AskedRequest(Request):
    makes = Asked
    days = Whole(low=1, high=36_500)
    limit = Whole(low=1, high=1_000)


def listed(store: Store) -> list[dict[str, Any]]:
    """Name, purpose and columns of each."""
    found = {name: store.statements[statement] for name, statement in ANALYTICS.items()}
    return [
        {"name": name, "about": statement.purpose, "columns": list(statement.returns)} for name, statement in found.items()
    ]


def ask(space: Space, name: str, asked: Asked) -> dict[str, Any]:
    """`name`, `about`, `columns` and `rows`, a row being a mapping by column. Raises NotFound."""
    if name not in ANALYTICS:
        raise NotFound(f"no analytics {name!r}; there are {', '.join(ANALYTICS)}", "name")
    statement = space.store.statements[ANALYTICS[name]]
    given = {"days": asked.days, "limit": asked.limit}
    rows = space.rows(statement.name, timeout_s=30.0, **{key: given[key] for key in given if key in statement.params})
    shown = [{column: _plain(row[column]) for column in statement.returns} for row in rows]
    return {"name": name, "about": statement.purpose, "columns": list(statement.returns), "rows": shown}


def _plain(value: Any) -> Any:
    return shown_time(value.to_native()) if hasattr(value, "to_native") else value
