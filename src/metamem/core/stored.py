"""Frozen types from the JSON that was kept of them, whichever version wrote it."""

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, ClassVar, Protocol, TypeVar

from metamem.core.errors import DataError


class _Dataclass(Protocol):
    __dataclass_fields__: ClassVar[dict[str, Any]]


T = TypeVar("T", bound=_Dataclass)


def restored(kind: type[T], data: Mapping[str, Any], **read: Any) -> T:
    """Fields as they were kept, save those that are `read` already.

    What the type does not know (any more) is left out; what was not kept yet has its default.
    """
    own = fields(kind)
    given = {f.name: data[f.name] for f in own if f.name in data} | read
    for f in own:
        if f.name not in given and f.default is MISSING and f.default_factory is MISSING:
            raise DataError(f"what was kept as a {kind.__name__} has no {f.name!r}")
    return kind(**given)
