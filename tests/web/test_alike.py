"""The same calls give the same, whether the service is in this process, behind a client, or behind
an asynchronous one."""

import asyncio
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

from metamem.core.errors import MetamemError
from metamem.core.types import Experience, Query
from metamem.routing.words import Outcome
from metamem.service import wire
from metamem.service.client import AsyncMemoryClient
from metamem.service.connecting import connect
from metamem.service.routing.words import Contender
from metamem.service.words import Ask, Change, Draft, Listing, Session, Turn
from tests.extras import needs
from tests.web.serving import SHOP, prepare, serving

needs("fastapi")
pytestmark = pytest.mark.slow
OWN = "local/user/somebody"
ID = re.compile(r"\b[defr][0-9a-f]{27}\b|\b[0-9a-f]{16}\b|\b[0-9a-f]{8}\b|\b[0-9a-f]{12}\b")
PASSING = {"milliseconds", "score", "why", "secret", "waiting", "notes", "replies"}  # and all times


class Blocking:
    """An asynchronous client, called as if it were none."""

    def __init__(self, client: Any, runner: asyncio.Runner) -> None:
        self._client, self._runner = client, runner

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._client, name)
        if not callable(found):
            return Blocking(found, self._runner)

        def call(*given: Any, **named: Any) -> Any:
            result = found(*given, **named)
            if hasattr(result, "__aiter__"):
                return iter(self._runner.run(_all(result)))
            return self._runner.run(_one(result)) if inspect.isawaitable(result) else result

        return call


async def _one(awaitable: Any) -> Any:
    return await awaitable


async def _all(pieces: Any) -> list[str]:
    return [piece async for piece in pieces]


class Script:
    """Calls all verbs, and keeps what each came to with ids and times taken out."""

    def __init__(self, service: Any) -> None:
        self.service = service
        self.seen: list[tuple[str, Any]] = []
        self._ids: dict[str, str] = {}

    def __call__(self, name: str, *given: Any, **named: Any) -> Any:
        verb = self.service
        for part in name.split("."):
            verb = getattr(verb, part)
        try:
            result = verb(*given, **named)
            if name == "export":  # in pieces of any size
                result = "".join(result).split("\n")
        except MetamemError as error:
            self.seen.append((name, (type(error).__name__, self._same(str(error)))))
            return None
        self.seen.append((name, self._plain(wire.encode(result))))
        return result

    def _plain(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {
                key: None
                if key in PASSING or key == "at" or key.endswith("_at")
                else self._plain(v)
                for key, v in value.items()
            }
        if isinstance(value, list):
            return [self._plain(item) for item in value]
        return self._same(value) if isinstance(value, str) else value

    def _same(self, text: str) -> str:
        text = re.sub(r"\b1[0-9]{12}\b", "TIME", text)
        return ID.sub(lambda m: self._ids.setdefault(m[0], f"id{len(self._ids)}"), text)


def play(service: Any) -> list[tuple[str, Any]]:
    call = Script(service)
    call("administration.me")
    call("administration.add_scope", SHOP)
    call("administration.add_scope", OWN, "shared")
    written = call(
        "remember",
        SHOP,
        [
            Draft("The shop runs on PostgreSQL 16.", "decision"),
            Draft("Ada prefers short answers.", "preference", author="Ada", pinned=True),
            Draft("the SHOP runs on postgresql 16."),
            Draft("  "),
            Draft("Half a character: \ud800, and 東京 with \x00 nothing.", entities=("Tokyo",)),
            Draft("A line\u2028that some take for two."),
        ],
    )
    first, second = written[0].id, written[1].id
    call("remember", "local/project/nobody-made/it", [Draft("x")])
    call("remember", SHOP, [Draft("x is y", type="opinion")])
    call("ingest", SHOP, Session("s1", (Turn("Ada", "Why does login fail?"), Turn("bot", "DNS."))))
    call("ingest", SHOP, Session("s1", (Turn("Ada", "Why does login fail?"), Turn("bot", "DNS."))))
    found = call("recall", Ask("which postgresql does the shop run on?", (SHOP,), limit=3))
    call("recall", Ask("   "))
    call("recall", Ask("anything", ("acme/project/other",)))
    call("feedback", found.id, first, "useful", "it was")
    call("feedback", found.id, first, "splendid")
    call("feedback", "r0", first, "useful")
    call("why", found.id)
    call("why", first)
    call("why", "f0")
    call("briefing", [SHOP], 300)
    call("get", first)
    call("get", "no such thing: at all?")
    call("browse", Listing((SHOP,), limit=2))
    call("browse", Listing((SHOP,), lifecycle=(), contains="100%_"))
    call("browse", Listing((SHOP,), limit=0))
    call("edit", first, Change(text="The shop runs on PostgreSQL 17.", reason="upgraded"))
    call("edit", first, Change(importance=0.25, pinned=True))
    call("history", first)
    call("forget", second, "no longer")
    call("forget", second)
    call("browse", Listing((SHOP,), lifecycle=("archived",)))
    call("restore", second)
    lines = call("export", [SHOP], "jsonl")
    lines = [line for line in lines if line]
    call("read_export", OWN, lines)
    call("read_export", OWN, lines)
    call("read_export", OWN, ["no export"])
    call("export", [SHOP], "markdown")
    call("export", [SHOP], "clay")
    call("counts")
    call("administration.scopes")
    call("administration.add_person", "grace", "person", "auditor")
    call("administration.add_person", "grace")
    call("administration.add_person", "writers", "team")
    call("administration.set_team", "writers", ["grace"])
    call("administration.set_role", "grace", "member")
    call("administration.disable", "grace")
    call("administration.enable", "grace")
    call("administration.people")
    call("administration.share", SHOP, "shared")
    call("administration.grant", SHOP, "grace", "writer")
    call("administration.grant", SHOP, "nobody", "writer")
    call("administration.members", SHOP)
    call("administration.ungrant", SHOP, "grace")
    call("administration.set_settings", SHOP, {"most_facts": 1000})
    call("administration.set_settings", SHOP, {"most_facts": -1})
    made = call("administration.make_key", label="laptop", scopes=[SHOP])
    call("administration.keys")
    turned = call("administration.rotate_key", made.key.id, 1000)
    call("administration.revoke_key", turned.key.id)
    call("administration.revoke_key", "0")
    call("administration.audit", 0, 5)
    call("advise", SHOP, Query("what now?"))
    call("experience", SHOP, Experience("x"))
    call("routing", SHOP)
    made = call("route", SHOP, "mend the login", [Contender("large", cost=0.4)])
    call("reward", made.decision, Outcome(1.0, 0.1, 2.0))
    call("reward", "d0", Outcome(1.0))
    call("route", SHOP, "mend the login", [])
    made = call("route", SHOP, "mend the cart", ["large"], cost_weight=0.5, latency_weight=0.0)
    call("why_route", made.decision)
    call("routing", SHOP)
    call("reward", made.decision, Outcome(0.5, 0.1))
    call("judge_routing", SHOP, cost_weight=0.5)
    call("erase", SHOP, "")
    call("erase", SHOP, "asked for", "Ada")
    call("erase", SHOP, "asked for")
    call("get", first)
    return call.seen


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, Any]]:
    folder = tmp_path_factory.mktemp("local")
    prepare(folder)
    with connect(folder) as service:
        return play(service)


def test_the_script_is_worth_comparing(local: list[tuple[str, Any]]) -> None:
    """Most calls succeed, and those that are meant to fail do."""
    failed = [name for name, result in local if isinstance(result, tuple)]
    assert len(local) > 55
    assert 12 <= len(failed) <= 23, failed


@pytest.mark.parametrize("kind", ["blocking", "asynchronous"])
def test_a_client_is_as_good_as_the_service(
    local: list[tuple[str, Any]], tmp_path: Path, kind: str
) -> None:
    with serving(tmp_path / "memory") as served:
        if kind == "blocking":
            with served.owner() as client:
                seen = play(client)
        else:
            with asyncio.Runner() as runner:
                awaited = AsyncMemoryClient(f"unix:{served.socket}")
                seen = play(Blocking(awaited, runner))
                runner.run(awaited.close())
    for ours, theirs in zip(local, seen, strict=True):
        assert theirs == ours
