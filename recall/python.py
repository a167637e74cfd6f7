"""`Memory`: the service in this process, as a Python object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from graph.packs import DEFAULT_NAMESPACE, checked_namespace
from graph.settings import Settings
from recall.asking import Asking

if TYPE_CHECKING:
    from recall.service import Service


class Memory(Asking[dict[str, Any]]):
    """A memory in a namespace, opened as the settings say: Neo4j is started where none runs, and stopped again.

    For any number of threads. Close it, or use it in a `with`:

        with Memory(namespace="team-a") as memory:
            memory.remember("The staging database moved to port 5433.")
            memory.recall("which port has the staging database")["results"]
    """

    def __init__(self, namespace: str = DEFAULT_NAMESPACE, *, actor: str | None = None, **settings: Any):
        """actor: who acts, which decides on the profile that serves.  settings: fields of `graph.settings.Settings`, such as
        `home`, over those of the environment.

        Raises SettingsError, ServerError, StoreError, EmbeddingError, PackError, ValidationFailed.
        """
        from recall.service import open_service

        self.namespace, self.actor = checked_namespace(namespace), actor
        self._service: Service = open_service(Settings.from_environment(**settings))
        self._owns = True

    @classmethod
    def over(cls, service: Service, namespace: str = DEFAULT_NAMESPACE, *, actor: str | None = None) -> Memory:
        """A memory over a service that is open already, and that whoever opened it closes."""
        memory = cls.__new__(cls)
        memory.namespace, memory.actor = checked_namespace(namespace), actor
        memory._service, memory._owns = service, False
        return memory

    def within(self, namespace: str, *, actor: str | None = None) -> Memory:
        """The same in another namespace, or for another actor; to be used while this one is open."""
        return Memory.over(self._service, namespace, actor=actor or self.actor)

    def call(self, verb: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Any verb by its name. Raises RequestError, StoreError."""
        return dict(self._service.dispatcher.call(verb, body, ns=self.namespace, actor=self.actor).body)

    def close(self) -> None:
        """Finishes what waits to be written, and stops Neo4j if nobody else uses it."""
        if self._owns:
            self._owns = False
            self._service.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
