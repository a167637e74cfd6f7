"""Every error that Palimpsest raises on purpose.

    PalimpsestError
    ├── SettingsError              the environment or an option is wrong; lists all faults at once
    ├── StatementError             a .cypher file's header and body disagree; names file and line
    ├── PackError                  packs that can't be ordered or loaded
    ├── ServerError                the managed Neo4j
    │   ├── DownloadError          a package could not be fetched
    │   ├── PortTaken              another program listens on the remembered port
    │   ├── DiskFull               not enough room in the home
    │   └── StartFailed            Java or Neo4j ended, or did not answer in time
    ├── StoreError                 the database
    │   ├── StoreUnavailable       away, starting, or refusing connections
    │   ├── StoreTimeout           a statement or a recall went past its limit
    │   ├── StoreConflict          a uniqueness constraint or a lock stood against the write
    │   ├── StatementFailed        the server refused a statement (an index is gone, say)
    │   └── SchemaError            the schema is newer than this program, or an index is not ONLINE
    ├── EmbeddingError             no such model, or vectors of other dimensions than stored
    └── RequestError               what a caller sent can't be done
        ├── ValidationFailed       fields are wrong; `errors` lists field and message
        ├── NotAllowed             the request is well formed, but the graph's rules forbid it
        ├── Unauthenticated        no key, or one that is not known
        ├── Forbidden              the key's role or namespaces do not reach this far
        ├── NotFound               unknown, foreign or deleted id
        ├── Conflict               the state of the graph stands against it
        │   ├── KeyInUse           `existing_id` holds the key with other content
        │   ├── SupersessionCycle  `chain` is the loop that the edge would close
        │   ├── TaskActive         the conversation has an active task: `existing_id`
        │   └── Busy               too much at once; try again
        ├── TooLarge               a body past the limit
        └── RateLimited            the key asks too often; again after `retry_after_s`

Each class has a stable `code`; the doors map classes to their own statuses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


class PalimpsestError(Exception):
    """Root of the tree. `code` is stable and may be matched by programs; the message is for people."""

    code = "error"

    @property
    def details(self) -> Mapping[str, Any]:
        """Fields that go beside the message, by name; JSON values only."""
        return {}


class SettingsError(PalimpsestError):
    code = "settings"


class StatementError(PalimpsestError):
    code = "statement"


class PackError(PalimpsestError):
    code = "pack"


class ServerError(PalimpsestError):
    code = "server"


class DownloadError(ServerError):
    code = "download_failed"


class PortTaken(ServerError):
    code = "port_taken"


class DiskFull(ServerError):
    code = "disk_full"


class StartFailed(ServerError):
    code = "start_failed"


class StoreError(PalimpsestError):
    code = "store"


class StoreUnavailable(StoreError):
    code = "store_unavailable"


class StoreTimeout(StoreError):
    code = "deadline"


class StoreConflict(StoreError):
    code = "store_conflict"


class StatementFailed(StoreError):
    code = "statement_failed"


class SchemaError(StoreError):
    code = "schema"


class EmbeddingError(PalimpsestError):
    code = "embedding"


class RequestError(PalimpsestError):
    code = "request"


class ValidationFailed(RequestError):
    """`errors`: one {field, message} each; a field of a nested value is dotted (`items.3.content`)."""

    code = "validation"

    def __init__(self, errors: Sequence[Mapping[str, str]]):
        self.errors = [dict(error) for error in errors]
        super().__init__("; ".join(f"{error['field']}: {error['message']}" for error in self.errors))

    @classmethod
    def of(cls, field: str, message: str) -> ValidationFailed:
        return cls([{"field": field, "message": message}])

    @property
    def details(self) -> Mapping[str, Any]:
        return {"errors": self.errors}


class NotAllowed(RequestError):
    """`allowed` lists what would have been accepted, where a list helps."""

    code = "not_allowed"

    def __init__(self, message: str, field: str, allowed: Sequence[str] = ()):
        super().__init__(message)
        self.field, self.allowed = field, list(allowed)

    @property
    def details(self) -> Mapping[str, Any]:
        found: dict[str, Any] = {"errors": [{"field": self.field, "message": str(self)}]}
        return found | ({"allowed": self.allowed} if self.allowed else {})


class Unauthenticated(RequestError):
    code = "unauthenticated"


class Forbidden(RequestError):
    code = "forbidden"


class NotFound(RequestError):
    code = "not_found"

    def __init__(self, message: str, field: str | None = None):
        super().__init__(message)
        self.field = field

    @property
    def details(self) -> Mapping[str, Any]:
        return {"errors": [{"field": self.field, "message": str(self)}]} if self.field else {}


class Conflict(RequestError):
    code = "conflict"


class KeyInUse(Conflict):
    code = "key_in_use"

    def __init__(self, message: str, existing_id: str):
        super().__init__(message)
        self.existing_id = existing_id

    @property
    def details(self) -> Mapping[str, Any]:
        return {"existing_id": self.existing_id}


class SupersessionCycle(Conflict):
    code = "supersession_cycle"

    def __init__(self, message: str, chain: Sequence[str]):
        super().__init__(message)
        self.chain = list(chain)

    @property
    def details(self) -> Mapping[str, Any]:
        return {"chain": self.chain}


class TaskActive(Conflict):
    code = "task_active"

    def __init__(self, message: str, existing_id: str):
        super().__init__(message)
        self.existing_id = existing_id

    @property
    def details(self) -> Mapping[str, Any]:
        return {"existing_id": self.existing_id}


class Busy(Conflict):
    code = "busy"


class TooLarge(RequestError):
    code = "too_large"


class RateLimited(RequestError):
    """`retry_after_s`: whole seconds, 1 or more, after which there is room again."""

    code = "rate_limited"

    def __init__(self, message: str, retry_after_s: int = 1):
        super().__init__(message)
        self.retry_after_s = retry_after_s
