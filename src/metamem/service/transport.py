"""What both clients share of a request's way: where it goes, what it carries, when it is repeated."""

import random
import secrets
from dataclasses import dataclass
from typing import Any

import httpx2 as httpx

from metamem import __version__
from metamem.core.errors import Busy, MetamemError, StoreError, TooMany, UsageError
from metamem.service import wire
from metamem.service.operation import Call
from metamem.service.problems import error_of

SECONDS = 60.0  # that an answer may take
ATTEMPTS = 4
LONGEST_WAIT = 5.0  # before a repetition; whoever is told to wait longer is told so
SOCKET = "unix:"


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server is, and with what it is asked."""

    url: str  # for people
    base: str
    socket: str  # the path of a unix socket; empty for none
    headers: dict[str, str]
    seconds: float

    @property
    def settings(self) -> dict[str, Any]:
        """For a client of httpx. Proxies of the environment are not used: they would see the key."""
        return {
            "base_url": self.base,
            "headers": self.headers,
            "timeout": httpx.Timeout(self.seconds, connect=min(10.0, self.seconds)),
            "trust_env": False,
        }


def address(url: str, key: str, seconds: float) -> Address:
    headers = {"User-Agent": f"metamem/{__version__}", "Accept": "application/json"}
    if key:
        if not key.isascii() or not key.isprintable():
            raise UsageError("this is no API key", hint="keys look like mm_…_…")
        headers["Authorization"] = f"Bearer {key}"
    if url.startswith(SOCKET):
        path = url.removeprefix(SOCKET).removeprefix("//")
        return Address(url, "http://localhost", path, headers, seconds)
    if not url.startswith(("http://", "https://")) or not _is_url(url):
        raise UsageError(
            f"{url!r} is no address of a server", hint="http://…, https://… or unix:PATH"
        )
    return Address(url, url.rstrip("/"), "", headers, seconds)


def _is_url(text: str) -> bool:
    try:
        return bool(httpx.URL(text).host)
    except httpx.InvalidURL:
        return False


class Exchange:
    """One request until it is answered. Both `failed` and `refused` say how long to wait before it
    is sent again, or raise what has to be told."""

    def __init__(self, call: Call[Any], where: Address) -> None:
        self._call, self._where = call, where
        self._sent = 0
        headers = {}
        operation = call.operation
        if call.body is not None:
            headers["Content-Type"] = "application/json"
        if operation.writes and operation.repeatable:
            headers["Idempotency-Key"] = secrets.token_urlsafe(24)
        self.request: dict[str, Any] = {
            "method": operation.method,
            "url": call.path,
            "params": call.query,
            "content": call.body,
            "headers": headers,
        }

    def failed(self, error: httpx.TransportError) -> float:
        unsent = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
        if unsent or self._call.operation.repeatable:
            wait = self._next()
            if wait is not None:
                return wait
        raise broken(self._where.url, error) from error

    def refused(self, response: httpx.Response) -> float:
        error = refusal(response)
        told = _told_to_wait(response)
        passing = isinstance(error, TooMany | Busy) or response.status_code in (502, 503, 504)
        if passing and told is not None and told <= LONGEST_WAIT and self._may_repeat:
            wait = self._next()
            if wait is not None:
                return max(wait, told)
        raise error

    @property
    def _may_repeat(self) -> bool:
        return self._call.operation.repeatable

    def _next(self) -> float | None:
        self._sent += 1
        if self._sent >= ATTEMPTS:
            return None
        return float(0.1 * 2**self._sent * (0.5 + random.random()))


class Lines:
    """Text that comes in pieces, given on by whole lines. Only a newline ends one: facts may hold
    whatever else is taken for a line's end."""

    def __init__(self) -> None:
        self._begun = ""

    def ended(self, text: str) -> list[str]:
        *whole, self._begun = (self._begun + text).split("\n")
        return [f"{line}\n" for line in whole]

    def rest(self) -> list[str]:
        return [self._begun] if self._begun else []


def refusal(response: httpx.Response) -> MetamemError:
    """The error that an answer tells of."""
    try:
        data = wire.parse(response.content)
    except UsageError:
        data = None
    return error_of(response.status_code, data)


def broken(url: str, error: httpx.TransportError) -> StoreError:
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
        return StoreError(
            f"no memory service answers at {url}", hint="is it running? `metamem serve` starts one"
        )
    if isinstance(error, httpx.TimeoutException):
        return StoreError(f"the memory service at {url} did not answer in time")
    return StoreError(f"the answer of {url} broke off: {type(error).__name__}")


def _told_to_wait(response: httpx.Response) -> float | None:
    try:
        return float(response.headers["Retry-After"])
    except (KeyError, ValueError):
        return None
