"""The memory pack: remembering, recalling, and what becomes of memories."""

from __future__ import annotations

from graph.kg_answers import Stored
from graph.packs import Pack, Runtime, Verb
from recall.backgrounds import Backgrounds
from recall.calibrate import Calibration, shipped
from recall.config import RecallConfig
from recall.lifecycle_verbs import LIFECYCLE
from recall.memory_schemas import RecallAnswer, RecallRequestSchema
from recall.pipeline import Recaller, recall
from recall.remember import RememberRequest, remember
from recall.subhandlers import SUBHANDLERS
from recall.warm import Warmer


def open_memory(runtime: Runtime) -> Recaller:
    """Recall's state, with the calibration that ships; the candidate statement is compiled before anyone asks."""
    models = runtime.options["models"]
    backgrounds = Backgrounds(runtime.store, models)
    runtime.states["kg"].listeners.append(backgrounds.written)
    config = RecallConfig()
    warmer = Warmer(runtime, models, config)
    warmer.now(most=1)
    warmer.again()  # the rest, while the first callers are served
    own = runtime.options["settings"].calibration
    calibration = Calibration.load(own) if own else shipped()
    return Recaller(models=models, calibration=calibration, backgrounds=backgrounds, warmer=warmer, config=config)


def close_memory(state: Recaller) -> None:
    """Ends what goes on in the background."""
    state.warmer.close()
    state.backgrounds.close()


pack = Pack(
    name="memory",
    requires=("kg",),
    open=open_memory,
    close=close_memory,
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
        *LIFECYCLE,
        *SUBHANDLERS,
    ),
)
