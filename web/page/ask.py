"""Ask: what is found, why, what was too unlikely, and what is suppressed by what. And what became of a hit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

from flask import Response, make_response, redirect, request

from graph.errors import RequestError
from graph.ontology import MEMORY_TYPES
from recall.config import FUSIONS
from web.page import words
from web.page.forms import Form
from web.page.visit import Visit, is_ours

LIMIT = 10
MOST_NEAR = 12  # candidates that were not served
SIGNALS = ("useful", "not_useful", "wrong")
NAMES = {"query": "q", "memory_type": "type", "include_superseded": "superseded"}  # of fields whose name differs here
OPTIONS: Mapping[str, Any] = {"types": MEMORY_TYPES, "fusions": FUSIONS}


def ask() -> Response:
    """The question, and what memory says to it."""
    visit, form = Visit.now(), Form(typed=request.args.to_dict())
    if form.text("q") is None:
        return visit.page("ask.html", form=form, found=None, **OPTIONS)
    try:
        answer = visit.call("memory.recall", **_asked(form))
    except RequestError as error:
        form = form.refused(error, NAMES)
        return visit.page("ask.html", form.status, form=form, found=None, **OPTIONS)
    return visit.page("ask.html", form=form, found=told(answer, visit), back=_here(), **OPTIONS)


def _asked(form: Form) -> dict[str, Any]:
    return {
        "query": form.text("q"),
        "limit": LIMIT if form.text("limit") is None else form.whole("limit"),
        "memory_type": form.text("type"),
        "kind": form.text("kind"),
        "tags": form.listed("tags"),
        "as_of": form.moment("as_of"),
        "include_superseded": form.ticked("superseded") or None,
        "min_score": 0.0 if form.ticked("min_score") else None,
        "fusion": form.text("fusion"),
        "profile": form.text("profile"),
        "full_content": False,
        "explain": True,
    }


def told(answer: Mapping[str, Any], visit: Visit) -> dict[str, Any]:
    """The answer as the template shows it."""
    near = answer.get("near_floor", [])[:MOST_NEAR]
    ids = [hit["id"] for hit in answer["results"]]
    return {
        "hits": [_hit(hit, visit) for hit in answer["results"]],
        "near": [one | {"why": words.STOPPED.get(one["stopped"], one["stopped"])} for one in near],
        "suppressed": _suppressed([*answer["results"], *near]),
        "reason": words.ABSTAINED.get(answer.get("reason") or "", answer.get("reason")),
        "browser": visit.browser.link("browser.hits", ids=ids) if ids else None,
        "took_ms": sum(answer.get("took_ms", {}).values()),
        "answer": answer,
    }


def _hit(hit: Mapping[str, Any], visit: Visit) -> dict[str, Any]:
    breakdown = hit.get("breakdown", {})
    evidence = breakdown.get("evidence", {})
    return {
        **hit,
        "bars": [
            ("Relevance", hit["relevance"], "how probable a true match it is; the floor applies to it"),
            ("Salience", hit["effective_salience"], f"what is left today of {hit['salience']:.2f}"),
            ("Recency", hit["temporal"], "halves every thirty days, unless a profile says otherwise"),
        ],
        "parts": stacked(breakdown.get("parts", {})),
        "found": [words.LEGS.get(leg, leg) for leg in hit["sources"]],
        "evidence": [
            ("What speaks for it", _worded(evidence, shared=False)),
            ("What is so of the question and its candidates", _worded(evidence, shared=True)),
        ],
        "browser": visit.browser.link("browser.memory", id=hit["id"]),
    }


def _worded(evidence: Mapping[str, float], *, shared: bool) -> list[tuple[str, str, float]]:
    """Name, meaning and value of each. shared: of what all candidates have in common, else of the hit's own."""
    return [
        (*words.EVIDENCE.get(name, (name, "")), value)
        for name, value in evidence.items()
        if shared is (name in words.OF_ALL)
    ]


def stacked(parts: Mapping[str, float]) -> list[dict[str, Any]]:
    """The parts of a score side by side: each with its name, its value, and where it starts."""
    found, at = [], 0.0
    for name, value in parts.items():
        found.append({"name": name, "words": words.PARTS.get(name, name), "value": value, "at": at})
        at += max(value, 0.0)
    return found


def _suppressed(hits: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Each old note that the question met, with what holds in its stead."""
    found: dict[str, dict[str, Any]] = {}
    for hit in hits:
        for step in hit["path"]:
            if step["leg"] == "superseded":
                found.setdefault(step["id"], {**step, "heirs": []})["heirs"].append(hit)
    return list(found.values())


def feedback() -> Response:
    """Keeps what became of a hit, and goes back to where it was said."""
    visit, form = Visit.now(), Form(typed=request.form.to_dict())
    answer = visit.call(
        "memory.feedback", target_id=form.text("target_id"), signal=form.text("signal"), serve_id=form.text("serve_id")
    )
    said = answer["signal"] if answer["counted"] else "again"
    return _returned(form.text("back"), visit, said, answer["target_id"])


def _here() -> str:
    """This address without what was said last."""
    kept = [(name, value) for name, value in request.args.items(multi=True) if name not in ("said", "about")]
    return f"{request.path}?{urlencode(kept)}"


def _returned(back: str | None, visit: Visit, said: str, about: str) -> Response:
    if back is None or not is_ours(back):
        return visit.to("memory", id=about, said=said)
    path, _, asked = back.partition("?")
    query = [(name, value) for name, value in parse_qsl(asked) if name not in ("said", "about")]
    return make_response(redirect(f"{path}?{urlencode([*query, ('said', said), ('about', about)])}", 303))
