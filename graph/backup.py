"""Backup and restore of the managed Neo4j, as files.

Neo4j Community copies no store that is in use, so it is stopped for as long as its files are copied inside the home; they
are packed when it serves again. An archive is a tar with `manifest.json` (format, versions, checksums), `password`, and the
folder `data`.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import os
import shutil
import tarfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from graph import java
from graph.errors import DiskFull, ServerError, ValidationFailed
from graph.home import Home
from graph.server import ManagedServer
from graph.settings import Settings

FORMAT, VERSION = "palimpsest-backup", 1
PARTS = ("databases", "transactions", "dbms")  # of Neo4j's data folder
LOCKS = frozenset({"store_lock", "database_lock"})
CHUNK = 1 << 20
SLACK = 64 << 20  # bytes that must stay free


@dataclass(frozen=True, kw_only=True)
class BackedUp:
    """away_s: how long Neo4j did not answer; 0 where it was not running."""

    file: str
    files: int
    size: int
    away_s: float
    took_s: float


@dataclass(frozen=True, kw_only=True)
class Restored:
    """kept: where the data that was there before lies now."""

    file: str
    files: int
    size: int
    kept: str | None
    took_s: float


def backup(settings: Settings, file: Path) -> BackedUp:
    """Writes the graph of a home to `file`; a service that uses it gets errors 503 meanwhile, and goes on by itself.

    Raises ServerError, DiskFull, StartFailed.
    """
    started = time.monotonic()
    home, server = Home(settings.home), ManagedServer(settings)
    if not home.has_data():
        raise ServerError(f"{settings.home} has no graph to back up")
    copy = home.folder / "backup.part"
    shutil.rmtree(copy, ignore_errors=True)
    _check_room(home.folder, _size(home.neo4j / "data"), home)
    with server.stopped() as stop:
        for part in PARTS:
            if (home.neo4j / "data" / part).exists():
                shutil.copytree(
                    home.neo4j / "data" / part, copy / "data" / part, ignore=lambda _folder, names: LOCKS & {*names}
                )
        shutil.copy2(home.neo4j / "password", copy / "password")
    try:
        files, size = _pack(copy, file)
    finally:
        shutil.rmtree(copy, ignore_errors=True)
    took = time.monotonic() - started
    return BackedUp(file=str(file), files=files, size=size, away_s=round(stop.away_s, 1), took_s=round(took, 1))


def restore(settings: Settings, file: Path, *, replace: bool = False) -> Restored:
    """Puts the graph of a backup into a home, which must be empty unless `replace`; what was there is kept beside it.

    Ended at any moment, it is run again; until it is through, the home's Neo4j refuses to start.
    Raises ValidationFailed for a damaged file, ServerError where the home is in use or not empty.
    """
    started = time.monotonic()
    home, server = Home(settings.home), ManagedServer(settings)
    with home.locked():
        begun = home.restoring()
        if home.has_data() and not replace and begun is None:
            raise ServerError(f"{home.folder} has a graph already; --replace puts it aside, and this one in its place")
    unpacked = home.folder / "restore.part"
    shutil.rmtree(unpacked, ignore_errors=True)
    manifest = _unpack(file, unpacked, home)
    if users := home.users():
        raise ServerError(f"Neo4j of {home.folder} is used by {users} other process(es): end them first")
    with server.stopped(again=False):
        kept = _swap(home, unpacked, file)
    shutil.rmtree(unpacked, ignore_errors=True)
    sizes = [entry["size"] for entry in manifest["files"].values()]
    return Restored(
        file=str(file),
        files=len(sizes),
        size=sum(sizes),
        kept=None if kept is None else str(kept),
        took_s=round(time.monotonic() - started, 1),
    )


def _swap(home: Home, unpacked: Path, file: Path) -> Path | None:
    """Puts the unpacked data in the place of the home's. Each step may be the last one done; the next run does the rest."""
    begun = home.restoring()
    kept = Path(begun["kept"]) if begun and begun["kept"] else None
    if begun is None:
        if home.has_data():
            stamp = f"{dt.datetime.now(dt.UTC):%Y%m%dT%H%M%S}"
            kept = home.neo4j / f"data.before-{stamp}"
        home.begin_restoring({"file": str(file), "kept": None if kept is None else str(kept)})
    data = home.neo4j / "data"
    if kept is not None and not kept.exists() and data.exists():
        data.replace(kept)
        shutil.copy2(home.neo4j / "password", kept / "password")
    shutil.rmtree(data, ignore_errors=True)
    home.neo4j.mkdir(parents=True, exist_ok=True)
    (unpacked / "data").replace(data)
    os.chmod(unpacked / "password", 0o600)
    (unpacked / "password").replace(home.neo4j / "password")
    home.end_restoring()
    return kept


def _pack(folder: Path, file: Path) -> tuple[int, int]:
    names = sorted(path for path in folder.rglob("*") if path.is_file())
    entries = {path.relative_to(folder).as_posix(): {"size": path.stat().st_size, "sha256": _sha256(path)} for path in names}
    manifest = {"format": FORMAT, "version": VERSION, "neo4j": _neo4j(), "created_at": dt.datetime.now(dt.UTC).isoformat()}
    part = file.with_name(f"{file.name}.part")
    mode: Literal["w:gz", "w:"] = "w:gz" if file.suffix in (".gz", ".tgz") else "w:"
    (folder / "manifest.json").write_text(json.dumps(manifest | {"files": entries}, indent=1), "utf-8")
    with os.fdopen(os.open(part, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600), "w+b") as out:
        with tarfile.open(fileobj=out, mode=mode) as archive:
            for name in ("manifest.json", *entries):
                archive.add(folder / name, name)
        out.flush()
        os.fsync(out.fileno())
    part.replace(file)
    return len(entries), file.stat().st_size


def _unpack(file: Path, folder: Path, home: Home) -> Mapping[str, Any]:
    """Unpacks an archive, each file checked. Raises ValidationFailed."""
    home.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    found: dict[str, dict[str, Any]] = {}
    try:
        with tarfile.open(file) as archive:
            manifest = _manifest(archive)
            _check_room(home.folder, sum(entry["size"] for entry in manifest["files"].values()), home)
            for member in archive:
                if member.name == "manifest.json":
                    continue
                if member.name not in manifest["files"] or not member.isfile():
                    raise ValidationFailed.of("file", f"{file}: {member.name!r} is not of a backup")
                archive.extract(member, folder, filter="data")
                path = folder / member.name
                found[member.name] = {"size": path.stat().st_size, "sha256": _sha256(path)}
    except (tarfile.TarError, EOFError, KeyError, ValueError, TypeError) as fault:
        raise ValidationFailed.of("file", f"{file} is no whole backup of Palimpsest: {fault}") from fault
    if found != manifest["files"]:
        raise ValidationFailed.of("file", f"{file} is damaged: a checksum does not fit")
    return manifest


def _manifest(archive: tarfile.TarFile) -> Mapping[str, Any]:
    first = archive.next()
    text = archive.extractfile(first) if first and first.name == "manifest.json" else None
    manifest = json.load(text) if text else {}
    if manifest.get("format") != FORMAT or manifest.get("version") != VERSION:
        raise ValidationFailed.of("file", "is no backup that this program reads")
    if any(name != "password" and not name.startswith("data/") for name in manifest["files"]):
        raise ValidationFailed.of("file", "holds what no backup does")
    if _numbers(manifest["neo4j"]) > _numbers(_neo4j()):
        raise ValidationFailed.of("file", f"was written by Neo4j {manifest['neo4j']}, which is newer than {_neo4j()} here")
    return dict(manifest)


def _neo4j() -> str:
    return java.NEO4J.partition("+")[0].rpartition(":")[2]


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


def _check_room(folder: Path, wanted: int, home: Home) -> None:
    if shutil.disk_usage(folder).free < wanted + SLACK:
        raise DiskFull(f"{home.folder} needs {wanted / 1e6:,.0f} MB more than its disk has")


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in _files(folder))


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file())


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as lines:
        while chunk := lines.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
