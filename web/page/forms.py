"""Forms of the page: what was typed, as the fields of a verb's request, and what is wrong with it, by field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from graph.errors import Forbidden, PalimpsestError, RequestError
from web.errors import told


@dataclass(frozen=True, kw_only=True)
class Form:
    """typed: as it came.  faults: by name of the field; under "" what belongs to none.  status: of the answer."""

    typed: Mapping[str, str] = field(default_factory=dict)
    faults: Mapping[str, str] = field(default_factory=dict)
    status: int = 200

    def text(self, name: str) -> str | None:
        """None where nothing was typed. Browsers send line ends as CR LF."""
        return self.typed.get(name, "").replace("\r\n", "\n").strip() or None

    def whole(self, name: str) -> int | str | None:
        """A whole number; what is none is left for the verb to refuse in its words."""
        text = self.text(name)
        return int(text) if text and text.isascii() and text.isdigit() and len(text) < 19 else text

    def number(self, name: str) -> float | str | None:
        text = self.text(name)
        try:
            return None if text is None else float(text)
        except ValueError:
            return text

    def moment(self, name: str) -> str | None:
        """A field of type datetime-local, which is asked for in UTC."""
        text = self.text(name)
        return f"{text}Z" if text and not text.endswith("Z") else text

    def listed(self, name: str) -> list[str] | None:
        """Words between commas."""
        text = self.text(name)
        return [part.strip() for part in text.split(",") if part.strip()] if text else None

    def ticked(self, name: str) -> bool:
        return name in self.typed

    def refused(self, error: RequestError, names: Mapping[str, str] | None = None) -> Form:
        """The same with what `error` says. names: the form's name of a request's field, where it has another.

        Raises Forbidden again: no other words in the form would help.
        """
        if isinstance(error, Forbidden):
            raise error
        faults: dict[str, str] = {}
        listed = error.details.get("errors") or [{"field": "", "message": str(error)}]
        for fault in listed:
            root, _, rest = fault["field"].partition(".")
            name = (names or {}).get(root, root)
            name = name if name in self.typed else ""
            words = fault["message"] if name else f"{fault['field']}: {fault['message']}" if root else fault["message"]
            faults[name] = "; ".join(filter(None, (faults.get(name), f"{rest}: {words}" if rest and name else words)))
        return Form(typed=self.typed, faults=faults, status=told(error).status)


def words_of(error: PalimpsestError) -> str:
    """What people are told of an error."""
    return told(error).detail or str(error)
