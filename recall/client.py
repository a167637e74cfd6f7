"""`Client` and `AsyncClient`: the service over HTTP. They raise what `Memory` raises, and repeat what may be repeated."""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import httpx2
import orjson

from graph.errors import PalimpsestError, StoreTimeout, StoreUnavailable, ValidationFailed
from recall.asking import Asking
from recall.problems import error_of

URL: Final = "http://127.0.0.1:8765"
REFUSED: Final = frozenset({429})  # nothing was done yet
BUSY: Final = frozenset({409, 503})  # with a Retry-After, another try may do
TWICE_AS_ONCE: Final = frozenset({"kg.update", "kg.link", "context.task_complete", "memory.prune", "memory.vacuum"})
READS: Final = frozenset(
    {
        *("kg.get", "kg.list", "kg.neighbors", "kg.traverse", "kg.search", "kg.history"),
        *("memory.recall", "context.select", "context.trace", "context.traces", "brain.profile_get", "brain.profiles"),
    }
)
FIRST_WAIT_S: Final = 0.2  # before a second try where the service names no time, and twice as long before each further one


@dataclass(frozen=True, kw_only=True)
class Options:
    """How the service is reached. None: from PALIMPSEST_URL, PALIMPSEST_KEY, and the key's namespace.

    timeout_s: of one try.  tries: in all, 1 or more.  patience_s: the longest that a Retry-After is waited for.
    """

    url: str | None = None
    key: str | None = field(default=None, repr=False)
    namespace: str | None = None
    actor: str | None = None
    timeout_s: float = 35.0
    tries: int = 4
    patience_s: float = 10.0

    def address(self) -> str:
        return (self.url or os.environ.get("PALIMPSEST_URL") or URL).rstrip("/")

    def headers(self) -> dict[bytes, bytes]:
        key = self.key or os.environ.get("PALIMPSEST_KEY")
        given = {"Authorization": f"Bearer {key}" if key else None, "X-Namespace": self.namespace, "X-Actor": self.actor}
        found = {name.encode(): value.encode() for name, value in given.items() if value is not None}
        return found | {b"Content-Type": b"application/json"}


@dataclass(frozen=True, kw_only=True)
class Try:
    """What came of a try: the answer, or the error, and how long to wait before the next; None: there is no next."""

    answer: dict[str, Any] = field(default_factory=dict)
    error: PalimpsestError | None = None
    wait_s: float | None = None


class Asker:
    """One verb's tries, told by what came of each; without a network, so that both clients share it."""

    def __init__(self, options: Options, verb: str, body: Mapping[str, Any]):
        self._options, self._done = options, 0
        self._safe = safe(verb, body)
        self.path = f"/v1/{verb.replace('.', '/')}"
        try:
            self.content = orjson.dumps(body)
        except orjson.JSONEncodeError as fault:
            raise ValidationFailed.of("", f"must be JSON values: {fault}") from None

    def answered(self, response: httpx2.Response) -> Try:
        self._done += 1
        try:
            found = orjson.loads(response.content)
        except ValueError:
            found = {}
        if response.is_success:
            return Try(answer=found)
        named = response.headers.get("Retry-After", "")
        after = int(named) if named.isdecimal() else None
        error = error_of(found if isinstance(found, dict) else {}, response.status_code, after)
        again = response.status_code in REFUSED or (
            response.status_code in BUSY and after is not None and (self._safe or response.status_code != 503)
        )
        return Try(error=error, wait_s=self._wait(after) if again else None)

    def failed(self, fault: httpx2.TransportError) -> Try:
        """Nothing came back. What was never sent may be sent again, what may have been done only if twice is as once."""
        self._done += 1
        unsent = isinstance(fault, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.PoolTimeout)
        slow = isinstance(fault, httpx2.TimeoutException) and not unsent
        words = f"the service at {self._options.address()} does not answer: {fault or type(fault).__name__}"
        error = StoreTimeout(words) if slow else StoreUnavailable(words)
        error.__cause__ = fault
        return Try(error=error, wait_s=self._wait(None) if unsent or (self._safe and not slow) else None)

    def _wait(self, after_s: int | None) -> float | None:
        if self._done >= self._options.tries or (after_s or 0) > self._options.patience_s:
            return None
        if after_s is not None:
            return float(after_s)
        spread: float = FIRST_WAIT_S * 2 ** (self._done - 1)
        return spread * random.uniform(0.5, 1.0)  # noqa: S311  # lest those that failed together come again together


def safe(verb: str, body: Mapping[str, Any]) -> bool:
    """Whether asking twice does no more than asking once: reads, what is set to a value, notes that all have a key, and
    feedback on a serve."""
    if verb in READS or verb in TWICE_AS_ONCE or verb.startswith("memory.recall_"):
        return True
    if verb in ("memory.remember", "kg.create"):
        items = body.get("items") or [body]
        return all(isinstance(item, Mapping) and item.get("key") is not None for item in items)
    return verb == "memory.feedback" and body.get("serve_id") is not None


class Client(Asking[dict[str, Any]]):
    """The service over HTTP, for any number of threads. Close it, or use it in a `with`.

    with Client("https://memory.example", key="palimpsest_...", namespace="team-a") as client:
        client.recall("which port has the staging database")["results"]
    """

    def __init__(self, url: str | None = None, *, http: httpx2.Client | None = None, **options: Any):
        """options: fields of `Options`.  http: a client of your own, for proxies and certificates; you close it."""
        self._options = Options(url=url, **options)
        self._http, self._owns = http or httpx2.Client(), http is None

    def call(self, verb: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Any verb by its name. Raises what the service raised; StoreUnavailable and StoreTimeout where it is not there."""
        asker = Asker(self._options, verb, body)
        while True:
            tried = self._try(asker)
            if tried.error is None:
                return tried.answer
            if tried.wait_s is None:
                raise tried.error
            time.sleep(tried.wait_s)

    def _try(self, asker: Asker) -> Try:
        url, headers = self._options.address() + asker.path, self._options.headers()
        try:
            response = self._http.post(url, content=asker.content, headers=headers, timeout=self._options.timeout_s)
        except httpx2.TransportError as fault:
            return asker.failed(fault)
        return asker.answered(response)

    def close(self) -> None:
        if self._owns:
            self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncClient(Asking[Awaitable[dict[str, Any]]]):
    """`Client` for asyncio: the same methods, awaited.

    async with AsyncClient() as client:
        (await client.recall("which port has the staging database"))["results"]
    """

    def __init__(self, url: str | None = None, *, http: httpx2.AsyncClient | None = None, **options: Any):
        """options: fields of `Options`.  http: a client of your own; you close it."""
        self._options = Options(url=url, **options)
        self._http, self._owns = http or httpx2.AsyncClient(), http is None

    async def call(self, verb: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Any verb by its name, as `Client.call`."""
        asker = Asker(self._options, verb, body)
        while True:
            tried = await self._try(asker)
            if tried.error is None:
                return tried.answer
            if tried.wait_s is None:
                raise tried.error
            await asyncio.sleep(tried.wait_s)

    async def _try(self, asker: Asker) -> Try:
        url, headers = self._options.address() + asker.path, self._options.headers()
        try:
            response = await self._http.post(url, content=asker.content, headers=headers, timeout=self._options.timeout_s)
        except httpx2.TransportError as fault:
            return asker.failed(fault)
        return asker.answered(response)

    async def close(self) -> None:
        if self._owns:
            await self._http.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
