"""Jars from Maven Central, through jgo's resolver, in a cache that homes, runs and processes share.

    CACHE/maven/        a Maven repository in the usual layout; a file in it is whole, or not there
    CACHE/classpaths/   the jars of each classpath once resolved, so that a warm start asks nobody
    CACHE/download.lock held while something is fetched

jgo's own environments (`jgo.build`) are not used: they would fetch a second JDK to sort the jars into modules, link
each jar once more, and leave half a file behind when killed. Its resolver and its repository layout are.
"""

from __future__ import annotations

import errno
import hashlib
import json
import logging
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import requests
from filelock import FileLock, Timeout
from jgo.constants import MAVEN_CENTRAL_URL
from jgo.maven import Artifact, MavenContext, PythonResolver
from jgo.parse import Coordinate
from requests.adapters import HTTPAdapter
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from urllib3.util import Retry

from graph.errors import DiskFull, DownloadError

log = logging.getLogger(__name__)
CONNECTIONS = 8
TIMEOUT_S = 30.0  # without a byte from the registry
ATTEMPTS = 3
BACKOFF_S = 0.5
RETRIED = (429, 500, 502, 503, 504)
CHUNK_BYTES = 1 << 17
LOG_EVERY_S = 10.0


def classpath(coordinates: str, cache: Path) -> list[Path]:
    """Jars of `group:name:version+...` with all that they need at run time, fetched once.

    Raises DownloadError when something is missing and can't be fetched, DiskFull when there is no room for it.
    """
    remembered = cache / "classpaths" / f"{hashlib.sha256(coordinates.encode()).hexdigest()[:16]}.json"
    jars = _recall(remembered, cache)
    if jars is None:
        with _filling(cache, coordinates):
            jars = _recall(remembered, cache, discard=True)
            if jars is None:
                jars = _resolve(coordinates, cache)
                _remember(remembered, coordinates, jars, cache)
    return jars


def single(group: str, name: str, version: str, cache: Path) -> Path:
    """One jar alone, without what it depends on, fetched once. Raises as `classpath` does."""
    jar = cache / "maven" / Path(*group.split("."), name, version, f"{name}-{version}.jar")
    if not jar.exists():
        with _filling(cache, f"{group}:{name}:{version}"), _shown(f"Fetching {name}") as show:
            context = _context(cache, show)
            show(total=1)
            context.project(group, name).at_version(version).artifact().resolve()
    return jar


def _recall(remembered: Path, cache: Path, *, discard: bool = False) -> list[Path] | None:
    """The jars of a list that was written down, or None if one is missing or of another size than it was.

    discard: removes what has another size, so that it will be fetched again.
    """
    try:
        sizes: dict[str, int] = json.loads(remembered.read_text(encoding="utf-8"))["jars"]
    except (OSError, ValueError, KeyError):
        return None
    jars = {cache / name: size for name, size in sizes.items()}
    damaged = [jar for jar, size in jars.items() if not jar.exists() or jar.stat().st_size != size]
    if damaged and discard:
        log.warning("%d jars are missing or damaged in %s: fetching them again", len(damaged), cache)
        for jar in damaged:
            jar.unlink(missing_ok=True)
    if damaged:
        return None
    return list(jars)


def _remember(remembered: Path, coordinates: str, jars: list[Path], cache: Path) -> None:
    sizes = {jar.relative_to(cache).as_posix(): jar.stat().st_size for jar in jars}
    remembered.parent.mkdir(parents=True, exist_ok=True)
    part = remembered.with_suffix(".part")
    part.write_text(json.dumps({"coordinates": coordinates, "jars": sizes}, indent=1), encoding="utf-8")
    part.replace(remembered)


def _resolve(coordinates: str, cache: Path) -> list[Path]:
    with _shown(f"Fetching {coordinates.split(':')[1]}") as show:
        context = _context(cache, lambda **_: show())
        wanted = [context.create_dependency(_compile(part)) for part in coordinates.split("+")]
        named, needed = context.resolver.resolve(wanted)
        artifacts = list({dependency.artifact.key: dependency.artifact for dependency in [*named, *needed]}.values())
        context.resolver = _Fetcher(show)
        show(total=len(artifacts))
        with ThreadPoolExecutor(CONNECTIONS) as pool:
            return list(pool.map(Artifact.resolve, artifacts))


def _context(cache: Path, show: Callable[..., None]) -> MavenContext:
    return MavenContext(_Fetcher(show), repo_cache=cache / "maven", remote_repos={"central": MAVEN_CENTRAL_URL})


def _compile(coordinate: str) -> Coordinate:
    group, name, version = coordinate.split(":")
    return Coordinate(group, name, version, scope="compile")


@contextmanager
def _filling(cache: Path, what: str) -> Iterator[None]:
    """Holds the cache's lock, and turns what goes wrong meanwhile into DownloadError or DiskFull."""
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with _locked(FileLock(cache / "download.lock")):
            yield
    except (OSError, RuntimeError, ValueError) as fault:  # requests' errors are OSErrors
        if isinstance(fault, OSError) and fault.errno == errno.ENOSPC:
            raise DiskFull(f"no room in {cache} for {what}: free some, or point PALIMPSEST_CACHE elsewhere") from fault
        raise DownloadError(
            f"{what} could not be fetched into {cache}: {fault}\n"
            "Check that the folder can be written and that this machine reaches Maven Central "
            f"({MAVEN_CENTRAL_URL}). Behind a proxy set HTTPS_PROXY, and REQUESTS_CA_BUNDLE if it has a certificate of "
            "its own. Without a network, fill the folder on another machine, copy it here, and point PALIMPSEST_CACHE "
            "at it."
        ) from fault


@contextmanager
def _locked(lock: FileLock) -> Iterator[None]:
    try:
        lock.acquire(timeout=0.2)
    except Timeout:
        log.info("another process is filling the cache: waiting for it (%s)", lock.lock_file)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


class _Fetcher(PythonResolver):
    """jgo's resolver, but what it downloads is checked, and moved into place only when whole."""

    def __init__(self, show: Callable[..., None]):
        super().__init__()
        self._show = show
        self._session = requests.Session()
        retry = Retry(ATTEMPTS, backoff_factor=BACKOFF_S, status_forcelist=RETRIED, raise_on_status=False)
        for scheme in ("https://", "http://"):
            self._session.mount(scheme, HTTPAdapter(pool_maxsize=CONNECTIONS, max_retries=retry))

    def download(self, artifact: Artifact) -> Path:
        target, repository = artifact.cached_path, artifact.context.remote_repos["central"]
        assert target is not None
        url = f"{repository}/{artifact.component.path_prefix.as_posix()}/{artifact.filename}"
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(f"{target.name}.part")
        for attempt in range(1, ATTEMPTS + 1):
            try:
                self._fetch(url, part)
                break
            except (requests.exceptions.ChunkedEncodingError, _Damaged) as fault:
                log.debug("attempt %d at %s: %s", attempt, url, fault)
                if attempt == ATTEMPTS:
                    raise
        part.replace(target)
        self._show(files=1)
        return target

    def _fetch(self, url: str, part: Path) -> None:
        digest = hashlib.sha1(usedforsecurity=False)
        with self._session.get(url, stream=True, timeout=TIMEOUT_S) as response, part.open("wb") as out:
            response.raise_for_status()
            for chunk in response.iter_content(CHUNK_BYTES):
                out.write(chunk)
                digest.update(chunk)
                self._show(size=len(chunk))
        checksum = self._session.get(f"{url}.sha1", timeout=TIMEOUT_S)
        if checksum.ok and checksum.text.lower().split()[:1] != [digest.hexdigest()]:
            raise _Damaged(f"{url} arrived damaged: its sha1 is {digest.hexdigest()}, not {checksum.text[:40]}")


class _Damaged(ValueError):
    """A download whose checksum differs from the registry's."""


@contextmanager
def _shown(what: str) -> Iterator[Callable[..., None]]:
    """Shows a download: a bar if standard error is a terminal, log lines otherwise.

    The function given back adds `files` and `size` (bytes) to what has come, or sets how many files there are (`total`).
    """
    console = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    lock, done, said = threading.Lock(), {"files": 0, "size": 0, "total": 0}, time.monotonic()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=None)

        def show(*, files: int = 0, size: int = 0, total: int = 0) -> None:
            nonlocal said
            with lock:
                done["files"], done["size"] = done["files"] + files, done["size"] + size
                done["total"] = total or done["total"]
                count = f"{done['files']} of {done['total']} files" if done["total"] else "looking up what it needs"
                line = f"{what}: {count}, {done['size'] / 1e6:.0f} MB"
                bar.update(task, description=line, total=done["total"] or None, completed=done["files"])
                if bar.disable and time.monotonic() - said > LOG_EVERY_S:
                    said = time.monotonic()
                    log.info(line)

        log.info("%s from Maven Central; this happens once", what)
        yield show
    log.info("%s: done, %d files, %.0f MB", what, done["files"], done["size"] / 1e6)
