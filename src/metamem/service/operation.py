"""One thing that can be asked of a memory service over the network, described once.

Servers make their routes and their document of it, clients their requests.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar
from urllib.parse import quote

from metamem.service import wire
from metamem.service.administers import Connected

A = TypeVar("A")
T = TypeVar("T")
Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
_IN_PATH = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Operation(Generic[A, T]):
    """`takes` holds all arguments. Those that the path names stand there; the others in the address
    where the method has no body, else in the body."""

    name: str
    method: Method
    path: str
    takes: type[A]
    gives: type[T]
    about: str
    does: Callable[[Connected, A], T]
    writes: bool = False  # changes something: repeating it takes an idempotency key
    secret: bool = False  # its reply must not be kept, so that it cannot be repeated
    streams: bool = False  # its reply is text that comes in pieces
    waits: bool = False  # for a design, perhaps: it must take no thread from others

    def __call__(self, arguments: A) -> "Call[T]":
        return Call(self, arguments)

    @property
    def in_path(self) -> list[str]:
        return _IN_PATH.findall(self.path)

    @property
    def others(self) -> list[str]:
        """The arguments that do not stand in the path."""
        inside = self.in_path
        return [name for name in wire.field_types(self.takes) if name not in inside]

    @property
    def has_body(self) -> bool:
        return self.method in ("POST", "PUT", "PATCH")

    @property
    def repeatable(self) -> bool:
        """Whether asking again can do no harm, given a key where it writes."""
        return not self.secret


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """An operation with its arguments: a request before it is sent."""

    operation: Operation[Any, T]
    arguments: Any

    @property
    def path(self) -> str:
        def value(found: re.Match[str]) -> str:
            return quote(str(getattr(self.arguments, found[1])), safe="", errors="replace")

        return _IN_PATH.sub(value, self.operation.path)

    @property
    def query(self) -> list[tuple[str, str]]:
        if self.operation.has_body:
            return []
        return wire.to_query(self.arguments, self.operation.others)

    @property
    def body(self) -> bytes | None:
        if not self.operation.has_body:
            return None
        others = self.operation.others
        given = {name: getattr(self.arguments, name) for name in others}
        return wire.text_of(given).encode()

    def reply(self, text: str | bytes) -> T:
        """What the server answered, as the words of the service."""
        data = wire.parse(text) if text else None
        return wire.decode(self.operation.gives, data, strict=False)
