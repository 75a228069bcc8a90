"""A memory service over the network, with the words of the one in this process.

`MemoryClient` and `AsyncMemoryClient` send the same requests (`verbs` and those beside it). What fails
on the way is asked again where that can do no harm: reads, and writes under a key of their own by
which the server knows a request that it has answered already.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import fields
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import httpx2 as httpx

from metamem.service import (
    verbs,
    verbs_keys,
    verbs_people,
    verbs_routing,
    verbs_scopes,
    verbs_served,
)
from metamem.service.operation import Call
from metamem.service.reading_export import ReadIn
from metamem.service.transport import SECONDS, Exchange, Lines, address, broken, refusal

P = ParamSpec("P")
T = TypeVar("T")


class _Sync:
    def __init__(self, url: str, key: str, seconds: float) -> None:
        self.address = address(url, key, seconds)
        transport = httpx.HTTPTransport(uds=self.address.socket) if self.address.socket else None
        self._client = httpx.Client(transport=transport, **self.address.settings)

    def send(self, call: Call[T]) -> T:
        exchange = Exchange(call, self.address)
        while True:
            try:
                response = self._client.send(self._client.build_request(**exchange.request))
            except httpx.TransportError as error:
                time.sleep(exchange.failed(error))
                continue
            if response.is_success:
                return call.reply(response.content)
            time.sleep(exchange.refused(response))

    def stream(self, call: Call[Any]) -> Iterator[str]:
        request = self._client.build_request(**Exchange(call, self.address).request)
        try:
            response = self._client.send(request, stream=True)
            try:
                if not response.is_success:
                    response.read()
                    raise refusal(response)
                lines = Lines()
                for text in response.iter_text():
                    yield from lines.ended(text)
                yield from lines.rest()
            finally:
                response.close()
        except httpx.TransportError as error:
            raise broken(self.address.url, error) from error

    def close(self) -> None:
        self._client.close()


class _Async:
    def __init__(self, url: str, key: str, seconds: float) -> None:
        self.address = address(url, key, seconds)
        socket = self.address.socket
        transport = httpx.AsyncHTTPTransport(uds=socket) if socket else None
        self._client = httpx.AsyncClient(transport=transport, **self.address.settings)

    async def send(self, call: Call[T]) -> T:
        exchange = Exchange(call, self.address)
        while True:
            try:
                response = await self._client.send(self._client.build_request(**exchange.request))
            except httpx.TransportError as error:
                await asyncio.sleep(exchange.failed(error))
                continue
            if response.is_success:
                return call.reply(response.content)
            await asyncio.sleep(exchange.refused(response))

    async def stream(self, call: Call[Any]) -> AsyncIterator[str]:
        request = self._client.build_request(**Exchange(call, self.address).request)
        try:
            response = await self._client.send(request, stream=True)
            try:
                if not response.is_success:
                    await response.aread()
                    raise refusal(response)
                lines = Lines()
                async for text in response.aiter_text():
                    for line in lines.ended(text):
                        yield line
                for line in lines.rest():
                    yield line
            finally:
                await response.aclose()
        except httpx.TransportError as error:
            raise broken(self.address.url, error) from error

    async def close(self) -> None:
        await self._client.aclose()


class _SyncVerbs:
    def __init__(self, transport: _Sync) -> None:
        self._transport = transport


class _AsyncVerbs:
    def __init__(self, transport: _Async) -> None:
        self._transport = transport


def _sent(call: Callable[P, Call[T]]) -> Callable[Concatenate[_SyncVerbs, P], T]:
    def verb(self: _SyncVerbs, /, *given: P.args, **named: P.kwargs) -> T:
        return self._transport.send(call(*given, **named))

    return verb


def _awaited(call: Callable[P, Call[T]]) -> Callable[Concatenate[_AsyncVerbs, P], Awaitable[T]]:
    def verb(self: _AsyncVerbs, /, *given: P.args, **named: P.kwargs) -> Awaitable[T]:
        return self._transport.send(call(*given, **named))

    return verb


def _summed(parts: Iterable[ReadIn]) -> ReadIn:
    """What all requests of one file came to."""
    total = ReadIn()
    for part in parts:
        for field in fields(ReadIn):
            setattr(total, field.name, getattr(total, field.name) + getattr(part, field.name))
    return total


class RemoteAdministration(_SyncVerbs):
    """`Administers`, over the network."""

    me = _sent(verbs_scopes.me)
    scopes = _sent(verbs_scopes.scopes)
    add_scope = _sent(verbs_scopes.add_scope)
    share = _sent(verbs_scopes.share)
    set_settings = _sent(verbs_scopes.set_settings)
    members = _sent(verbs_scopes.members)
    grant = _sent(verbs_scopes.grant)
    ungrant = _sent(verbs_scopes.ungrant)
    people = _sent(verbs_people.people)
    add_person = _sent(verbs_people.add_person)
    set_role = _sent(verbs_people.set_role)
    disable = _sent(verbs_people.disable)
    enable = _sent(verbs_people.enable)
    set_team = _sent(verbs_people.set_team)
    keys = _sent(verbs_keys.keys)
    make_key = _sent(verbs_keys.make_key)
    rotate_key = _sent(verbs_keys.rotate_key)
    revoke_key = _sent(verbs_keys.revoke_key)
    audit = _sent(verbs_keys.audit)


class MemoryClient(_SyncVerbs):
    """`Memories`, over the network. `url` may be `unix:PATH` for a server's socket."""

    def __init__(self, url: str, key: str = "", *, seconds: float = SECONDS) -> None:
        super().__init__(_Sync(url, key, seconds))
        self.administration = RemoteAdministration(self._transport)

    remember = _sent(verbs.remember)
    ingest = _sent(verbs.ingest)
    keep_calls = _sent(verbs.keep_calls)
    recall = _sent(verbs.recall)
    briefing = _sent(verbs.briefing)
    get = _sent(verbs.get)
    browse = _sent(verbs.browse)
    history = _sent(verbs.history)
    edit = _sent(verbs.edit)
    forget = _sent(verbs.forget)
    restore = _sent(verbs.restore)
    feedback = _sent(verbs.feedback)
    why = _sent(verbs.why)
    erase = _sent(verbs.erase)
    counts = _sent(verbs.counts)
    advise = _sent(verbs_served.advise)
    experience = _sent(verbs_served.experience)
    standing = _sent(verbs_served.standing)
    compare = _sent(verbs_served.compare)
    route = _sent(verbs_routing.route)
    reward = _sent(verbs_routing.reward)
    why_route = _sent(verbs_routing.why_route)
    routing = _sent(verbs_routing.routing)
    judge_routing = _sent(verbs_routing.judge_routing)

    def export(self, scopes: Sequence[str] = (), form: str = "jsonl") -> Iterator[str]:
        return self._transport.stream(verbs.export(scopes, form))

    def read_export(self, scope: str, lines: Iterable[str]) -> ReadIn:
        return _summed(self._transport.send(call) for call in verbs.read_export(scope, lines))

    def end_comparison(self, scope: str) -> bool:
        return self._transport.send(verbs_served.end_comparison(scope)).ended

    def close(self) -> None:
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()


class AsyncRemoteAdministration(_AsyncVerbs):
    """The verbs of `Administers`, awaited."""

    me = _awaited(verbs_scopes.me)
    scopes = _awaited(verbs_scopes.scopes)
    add_scope = _awaited(verbs_scopes.add_scope)
    share = _awaited(verbs_scopes.share)
    set_settings = _awaited(verbs_scopes.set_settings)
    members = _awaited(verbs_scopes.members)
    grant = _awaited(verbs_scopes.grant)
    ungrant = _awaited(verbs_scopes.ungrant)
    people = _awaited(verbs_people.people)
    add_person = _awaited(verbs_people.add_person)
    set_role = _awaited(verbs_people.set_role)
    disable = _awaited(verbs_people.disable)
    enable = _awaited(verbs_people.enable)
    set_team = _awaited(verbs_people.set_team)
    keys = _awaited(verbs_keys.keys)
    make_key = _awaited(verbs_keys.make_key)
    rotate_key = _awaited(verbs_keys.rotate_key)
    revoke_key = _awaited(verbs_keys.revoke_key)
    audit = _awaited(verbs_keys.audit)


class AsyncMemoryClient(_AsyncVerbs):
    """The verbs of `Memories` over the network, awaited."""

    def __init__(self, url: str, key: str = "", *, seconds: float = SECONDS) -> None:
        super().__init__(_Async(url, key, seconds))
        self.administration = AsyncRemoteAdministration(self._transport)

    remember = _awaited(verbs.remember)
    ingest = _awaited(verbs.ingest)
    keep_calls = _awaited(verbs.keep_calls)
    recall = _awaited(verbs.recall)
    briefing = _awaited(verbs.briefing)
    get = _awaited(verbs.get)
    browse = _awaited(verbs.browse)
    history = _awaited(verbs.history)
    edit = _awaited(verbs.edit)
    forget = _awaited(verbs.forget)
    restore = _awaited(verbs.restore)
    feedback = _awaited(verbs.feedback)
    why = _awaited(verbs.why)
    erase = _awaited(verbs.erase)
    counts = _awaited(verbs.counts)
    advise = _awaited(verbs_served.advise)
    experience = _awaited(verbs_served.experience)
    standing = _awaited(verbs_served.standing)
    compare = _awaited(verbs_served.compare)
    route = _awaited(verbs_routing.route)
    reward = _awaited(verbs_routing.reward)
    why_route = _awaited(verbs_routing.why_route)
    routing = _awaited(verbs_routing.routing)
    judge_routing = _awaited(verbs_routing.judge_routing)

    def export(self, scopes: Sequence[str] = (), form: str = "jsonl") -> AsyncIterator[str]:
        return self._transport.stream(verbs.export(scopes, form))

    async def read_export(self, scope: str, lines: Iterable[str]) -> ReadIn:
        calls = verbs.read_export(scope, lines)
        return _summed([await self._transport.send(call) for call in calls])

    async def end_comparison(self, scope: str) -> bool:
        return (await self._transport.send(verbs_served.end_comparison(scope))).ended

    async def close(self) -> None:
        await self._transport.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *details: object) -> None:
        await self.close()
