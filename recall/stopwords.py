"""English words that carry no matter of their own; also the remains of contractions, and what people say to a chat."""

from __future__ import annotations

STOP_WORDS = frozenset(
    """
    a about above after again against all also am an and any are as at be because been before being below between both
    but by ca can could did do does doing down during each few for from further had has have having he her here hers
    herself him himself his how i if in into is it its itself just let me more most my myself no nor not of off on once
    only or other our ours ourselves out over own per please same shall she should so some such than that the their
    theirs them themselves then there these they this those through to too under until up upon us very was we were what
    when where which while who whom whose why will with within without wo would you your yours yourself yourselves
    """.split()  # noqa: SIM905
)
