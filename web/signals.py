"""SIGTERM and SIGINT as an orderly end."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

Stop = Callable[[], None]


@contextmanager
def interruptible(exit_code: int = 0) -> Iterator[Callable[[Stop], None]]:
    """Inside the block both signals raise SystemExit(exit_code), so that every `finally` runs.

    The block's value takes a `stop`: from then on the signals call it instead, any number of times.
    """
    stops: list[Stop] = []

    def on_signal(number: int, frame: FrameType | None) -> None:
        if not stops:
            raise SystemExit(exit_code)
        stops[-1]()

    before = {number: signal.signal(number, on_signal) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield stops.append
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
