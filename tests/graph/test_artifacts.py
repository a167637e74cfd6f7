"""Artifacts, against a Maven repository served from a folder on this machine."""

from __future__ import annotations

import functools
import hashlib
import http.server
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from graph import artifacts
from graph.errors import DownloadError

APP = "org.example:app:1.0"
POM = """<project><modelVersion>4.0.0</modelVersion><groupId>org.example</groupId><artifactId>{name}</artifactId>
<version>1.0</version><dependencies>{needs}</dependencies></project>"""
NEEDS = """<dependency><groupId>org.example</groupId><artifactId>{name}</artifactId><version>1.0</version>
<scope>{scope}</scope></dependency>"""


class Repository:
    """A folder in the layout of Maven Central, and how often each file was asked for."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.asked: Counter[str] = Counter()
        self.url = ""

    def add(self, name: str, **scopes: str) -> None:
        needs = "".join(NEEDS.format(name=needed, scope=scope) for needed, scope in scopes.items())
        self.put(name, "pom", POM.format(name=name, needs=needs).encode())
        self.put(name, "jar", f"the jar of {name}".encode())

    def put(self, name: str, kind: str, content: bytes, sha1: str | None = None) -> None:
        path = self.path(name, kind)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        Path(f"{path}.sha1").write_text(sha1 or hashlib.sha1(content).hexdigest(), encoding="ascii")

    def path(self, name: str, kind: str) -> Path:
        return self.folder / "org" / "example" / name / "1.0" / f"{name}-1.0.{kind}"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Repository]:
    repository = Repository(tmp_path / "central")
    repository.add("app", lib="compile", extra="runtime", checks="test", given="provided")
    for name in ("lib", "extra", "checks", "given"):
        repository.add(name)

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
            repository.asked[self.path.rpartition("/")[2]] += 1

        def log_message(self, format: str, *args: object) -> None:
            pass

    serve = functools.partial(Handler, directory=str(repository.folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), serve) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        repository.url = f"http://127.0.0.1:{server.server_port}"
        monkeypatch.setattr(artifacts, "MAVEN_CENTRAL_URL", repository.url)
        monkeypatch.setattr(artifacts, "BACKOFF_S", 0.0)
        yield repository
        server.shutdown()


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def _names(jars: list[Path]) -> set[str]:
    return {jar.name for jar in jars}


def test_a_classpath_has_what_is_needed_to_run_and_not_what_is_needed_to_test(repository: Repository, cache: Path) -> None:
    jars = artifacts.classpath(APP, cache)
    assert _names(jars) == {"app-1.0.jar", "lib-1.0.jar", "extra-1.0.jar"}
    assert {jar.read_bytes() for jar in jars} == {b"the jar of app", b"the jar of lib", b"the jar of extra"}
    assert all(jar.is_relative_to(cache) for jar in jars)


def test_a_warm_start_asks_nobody(repository: Repository, cache: Path) -> None:
    cold = artifacts.classpath(APP, cache)
    repository.asked.clear()
    assert artifacts.classpath(APP, cache) == cold
    assert not repository.asked


def test_several_coordinates_make_one_classpath(repository: Repository, cache: Path) -> None:
    assert _names(artifacts.classpath("org.example:lib:1.0+org.example:extra:1.0", cache)) == {
        "lib-1.0.jar",
        "extra-1.0.jar",
    }


@pytest.mark.parametrize("harm", [lambda jar: jar.unlink(), lambda jar: jar.write_bytes(b"half")])
def test_a_lost_or_damaged_jar_is_fetched_again_and_no_other(
    repository: Repository, cache: Path, harm: Callable[[Path], object]
) -> None:
    jars = artifacts.classpath(APP, cache)
    harm(next(jar for jar in jars if jar.name == "lib-1.0.jar"))
    repository.asked.clear()
    assert artifacts.classpath(APP, cache) == jars
    assert {jar.read_bytes() for jar in jars} >= {b"the jar of lib"}
    assert set(repository.asked) == {"lib-1.0.jar", "lib-1.0.jar.sha1"}


def test_a_download_that_was_cut_off_is_not_taken_for_a_jar(repository: Repository, cache: Path) -> None:
    part = cache / "maven" / "org" / "example" / "lib" / "1.0" / "lib-1.0.jar.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(b"the jar")
    jar = artifacts.single("org.example", "lib", "1.0", cache)
    assert jar.read_bytes() == b"the jar of lib"


def test_a_jar_whose_checksum_differs_is_refused(repository: Repository, cache: Path) -> None:
    repository.put("lib", "jar", b"something else", sha1="0" * 40)
    with pytest.raises(DownloadError, match="arrived damaged"):
        artifacts.classpath(APP, cache)
    assert not list(cache.rglob("lib-1.0.jar"))
    assert repository.asked["lib-1.0.jar"] == artifacts.ATTEMPTS


def test_a_jar_without_a_published_checksum_is_accepted(repository: Repository, cache: Path) -> None:
    Path(f"{repository.path('lib', 'jar')}.sha1").unlink()
    assert artifacts.single("org.example", "lib", "1.0", cache).exists()


def test_a_single_jar_comes_without_what_it_depends_on(repository: Repository, cache: Path) -> None:
    jar = artifacts.single("org.example", "app", "1.0", cache)
    assert jar.read_bytes() == b"the jar of app"
    assert [path.name for path in cache.rglob("*.jar")] == ["app-1.0.jar"]
    repository.asked.clear()
    assert artifacts.single("org.example", "app", "1.0", cache) == jar
    assert not repository.asked


def test_callers_at_the_same_time_fetch_each_file_once(repository: Repository, cache: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: artifacts.classpath(APP, cache), range(4)))
    assert all(jars == found[0] for jars in found)
    assert set(repository.asked.values()) == {1}


def test_an_artifact_that_does_not_exist_is_a_download_error(repository: Repository, cache: Path) -> None:
    with pytest.raises(DownloadError, match=r"org\.example:none:1\.0 could not be fetched"):
        artifacts.single("org.example", "none", "1.0", cache)


def test_without_a_network_the_error_says_what_to_do(
    repository: Repository, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    monkeypatch.setattr(artifacts, "MAVEN_CENTRAL_URL", f"http://127.0.0.1:{port}")
    with pytest.raises(DownloadError) as caught:
        artifacts.classpath(APP, cache)
    assert all(word in str(caught.value) for word in ("HTTPS_PROXY", "PALIMPSEST_CACHE", str(port)))


def test_a_cache_filled_beforehand_and_moved_needs_no_network(
    repository: Repository, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    artifacts.classpath(APP, cache)
    moved = cache.rename(tmp_path / "elsewhere")
    monkeypatch.setattr(artifacts, "MAVEN_CENTRAL_URL", "http://127.0.0.1:1")
    assert _names(artifacts.classpath(APP, moved)) == {"app-1.0.jar", "lib-1.0.jar", "extra-1.0.jar"}


def test_a_cache_that_is_no_folder_is_a_download_error(cache: Path) -> None:
    cache.write_text("in the way", encoding="ascii")
    with pytest.raises(DownloadError, match="Check that the folder can be written"):
        artifacts.classpath(APP, cache)
