"""Import by format: exports of Palimpsest, and the memories of other programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from graph.packs import DEFAULT_NAMESPACE
from recall import foreign
from recall.importing import Imported, Importer, Report
from recall.index import Indexer

if TYPE_CHECKING:
    from recall.service import Service


def run(service: Service, file: Path, *, form: str = "auto", into: str | None = None, report: Report) -> Imported:
    """Stores what is in `file`. form: `auto` looks at its first line. Raises ValidationFailed, StoreError."""
    known = foreign.detect(file) if form == "auto" else form
    if known == "palimpsest":
        return Importer(service.store, service.models, Indexer(service.models)).run(file, into=into, report=report)
    return foreign.run(service.dispatcher, file, known, into or DEFAULT_NAMESPACE, report)
