"""Charts of analytics, as geometry for SVG. A statement asks for one in its header: `// chart: line x=day y=rate`."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from web.page.words import shortened

WIDTH, HEIGHT = 720, 260
LEFT, RIGHT, TOP, BOTTOM = 56, 12, 12, 44
MOST_POINTS = 400
LABELS = 8
LABEL = 14
_ASKED = re.compile(r"^//\s*chart:\s*(line|bar)\s+x=(\w+)\s+y=(\w+)\s*$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Chart:
    """x, y: columns; y is a number."""

    kind: Literal["line", "bar"]
    x: str
    y: str


def chart_of(text: str) -> Chart | None:
    """What the header of a statement's text asks for."""
    match = _ASKED.search(text)
    return Chart(kind="line" if match[1] == "line" else "bar", x=match[2], y=match[3]) if match else None


def drawn(chart: Chart, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """The marks, the line through them, ticks and labels; None where no row has a number, or there is no such column."""
    pairs = [(row.get(chart.x), row.get(chart.y)) for row in rows[:MOST_POINTS]]
    points = [(x, float(y)) for x, y in pairs if isinstance(y, int | float) and math.isfinite(y)]
    if not points:
        return None
    top, low = nice(max(max(y for _, y in points), 0.0)), min(min(y for _, y in points), 0.0)
    wide, tall = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    step = wide / len(points)

    def level(value: float) -> float:
        return round(TOP + tall * (1 - (value - low) / (top - low)), 1)

    zero = level(0.0)
    marks = [
        {
            "x": round(LEFT + step * n + step * 0.15, 1),
            "middle": round(LEFT + step * (n + 0.5), 1),
            "y": min(level(y), zero),
            "width": round(step * 0.7, 1),
            "height": round(abs(zero - level(y)), 1),
            "at": level(y),
            "words": f"{shortened(str(x), 80)}: {number(y)}",
        }
        for n, (x, y) in enumerate(points)
    ]
    every = math.ceil(len(points) / LABELS)
    return {
        "kind": chart.kind,
        "name": f"{chart.y.replace('_', ' ')} by {chart.x.replace('_', ' ')}",
        "size": (WIDTH, HEIGHT),
        "zero": zero,
        "edges": (LEFT, WIDTH - RIGHT),
        "marks": marks,
        "line": " ".join(f"{mark['middle']},{mark['at']}" for mark in marks),
        "ticks": [(level(value), number(value)) for value in ticks(low, top)],
        "labels": [
            (mark["middle"], shortened(str(x), LABEL)) for mark, (x, _) in list(zip(marks, points, strict=True))[::every]
        ],
        "dots": len(points) <= 60,
    }


def nice(value: float) -> float:
    """The next round number at or above `value`: 1, 2, 2.5, 5 or 10 times a power of ten; 1 for 0."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(round(times * power, 10) for times in (1, 2, 2.5, 5, 10) if times * power >= value * (1 - 1e-9))


def ticks(low: float, top: float) -> list[float]:
    """Where the lines go: quarters of 1, 2 and their tenfolds, else fifths."""
    steps = 4 if f"{top:e}"[0] in "12" and not f"{top:e}".startswith("2.5") else 5
    return [low + (top - low) * n / steps for n in range(steps + 1)]


def number(value: float) -> str:
    """A number as an axis shows it."""
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"
