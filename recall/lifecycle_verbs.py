"""The verbs of what becomes of memories."""

from __future__ import annotations

from graph.packs import Verb
from recall import lifecycle_schemas as schemas
from recall.consolidate import consolidate
from recall.lifecycle import prune, vacuum

LIFECYCLE = (
    Verb(
        name="memory.prune",
        illocution="directive",
        role="write",
        request=schemas.PruneRequest(),
        response=schemas.Pruned(),
        handler=prune,
    ),
    Verb(
        name="memory.vacuum",
        illocution="directive",
        role="admin",
        request=schemas.VacuumRequest(),
        response=schemas.Vacuumed(),
        handler=vacuum,
    ),
    Verb(
        name="memory.consolidate",
        illocution="directive",
        role="write",
        request=schemas.ConsolidateRequest(),
        response=schemas.Consolidated(),
        handler=consolidate,
    ),
)
