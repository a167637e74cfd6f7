"""The memory pack: remembering and recalling."""

from __future__ import annotations

from graph.kg_answers import Stored
from graph.packs import Pack, Runtime, Verb
from recall.backgrounds import Backgrounds
from recall.calibrate import Calibration, shipped
from recall.config import RecallConfig
from recall.memory_schemas import RecallAnswer, RecallRequestSchema
from recall.pipeline import Recaller, recall
from recall.remember import RememberRequest, remember
from recall.subhandlers import SUBHANDLERS
from recall.warm import Warmer


def open_memory(runtime: Runtime) -> Recaller:
    """Recall's state, with the calibration that ships; the candidate statement is compiled before anyone asks."""
    model = runtime.options["embedder"]
    backgrounds = Backgrounds(runtime.store, model.name, model.dimensions)
    runtime.states["kg"].listeners.append(backgrounds.written)
    config = RecallConfig()
    warmer = Warmer(runtime, model, config)
    warmer.now()
    own = runtime.options["settings"].calibration
    calibration = Calibration.load(own) if own else shipped()
    return Recaller(embedder=model, calibration=calibration, backgrounds=backgrounds, warmer=warmer, config=config)


pack = Pack(
    name="memory",
    requires=("kg",),
    open=open_memory,
    close=lambda state: state.backgrounds.close(),
    verbs=(
        Verb(
            name="memory.remember",
            illocution="commissive",
            role="write",
            request=RememberRequest(),
            response=Stored(),
            handler=remember,
        ),
        Verb(
            name="memory.recall",
            illocution="assertive",
            request=RecallRequestSchema(),
            response=RecallAnswer(),
            handler=recall,
        ),
        *SUBHANDLERS,
    ),
)
