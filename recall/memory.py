"""The memory pack: remembering, recalling, learning from what became of it, and what becomes of memories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graph.kg_answers import Stored
from graph.packs import Pack, Runtime, Verb
from recall.backgrounds import Backgrounds
from recall.brain import BalancedRecallState, Judged, Tunable, recall_evidence
from recall.calibrate import Calibration, shipped
from recall.config import RecallConfig
from recall.configured import configured
from recall.feedback import FeedbackAnswer, FeedbackRequest, feedback
from recall.lifecycle_verbs import LIFECYCLE
from recall.memory_schemas import RecallAnswer, RecallRequestSchema
from recall.pipeline import Recaller, recall
from recall.remember import RememberRequest, remember
from recall.serves import Recorder
from recall.subhandlers import SUBHANDLERS
from recall.warm import Warmer


def open_memory(runtime: Runtime) -> Recaller:
    """Recall's state, with the calibration that ships; the candidate statement is compiled before anyone asks."""
    models = runtime.options["models"]
    backgrounds = Backgrounds(runtime.store, models)
    runtime.states["kg"].listeners.append(backgrounds.written)
    settings = runtime.options["settings"]
    config = configured(settings.recall) if settings.recall else RecallConfig()
    warmer = Warmer(runtime, models, config)
    warmer.first()
    warmer.again()  # the rest, while the first callers are served
    calibration = Calibration.load(settings.calibration) if settings.calibration else shipped()
    return Recaller(
        models=models,
        calibration=calibration,
        backgrounds=backgrounds,
        warmer=warmer,
        serves=Recorder(runtime.store),
        config=config,
    )


def close_memory(state: Recaller) -> None:
    """Ends what goes on in the background."""
    state.serves.close()
    state.warmer.close()
    state.backgrounds.close()


@dataclass(frozen=True, kw_only=True)
class MemoryPack(Pack):
    """The memory pack lets the brain tune the weights of its score (see `recall.brain.PackTunable`)."""

    def tunables(self, state: Recaller) -> Sequence[Tunable]:
        return BalancedRecallState.configured(state.config.scoring).tunables()

    def evidence(self, judged: Judged) -> Mapping[str, float]:
        return recall_evidence(judged)


pack = MemoryPack(
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
        Verb(
            name="memory.feedback",
            illocution="commissive",
            role="write",
            request=FeedbackRequest(),
            response=FeedbackAnswer(),
            handler=feedback,
        ),
        *LIFECYCLE,
        *SUBHANDLERS,
    ),
)
