"""Calls of tools are kept once, without secrets, and go when they are erased."""

from pathlib import Path

import pytest

from metamem.core.access import Scope
from metamem.core.errors import UsageError
from metamem.service.calls import read_calls
from metamem.service.picture import redraw
from metamem.service.service import MemoryService
from metamem.service.sight import scope_number
from metamem.service.words import Session, ToolCall
from metamem.service.writing.calls import HEAD, TAIL, prepare_call

SCOPE = "local/project/shop"
GITHUB = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
TALK = Session("s1", (), "codex")


@pytest.fixture
def service(tmp_path: Path) -> MemoryService:
    return MemoryService(tmp_path / "memory")


def rows(service: MemoryService, scope: str = SCOPE) -> dict[str, dict[str, object]]:
    with service.database.reading() as execute:
        number = scope_number(execute, Scope.parse(scope))
        assert number is not None
        return read_calls(execute, number, "s1")


def test_halves_join_and_the_same_again_adds_nothing(service: MemoryService) -> None:
    memories = service.local()
    begun = ToolCall("a", "bash", {"command": "make"}, at=1000, prompt="p1")
    ended = ToolCall("a", result="no rule", error="no rule", exit_code=2, milliseconds=30)
    assert memories.keep_calls(SCOPE, TALK, [begun]).stored == 1
    assert memories.keep_calls(SCOPE, TALK, [ended]).joined == 1
    again = memories.keep_calls(SCOPE, TALK, [begun, ended])
    assert (again.stored, again.joined, again.known) == (0, 0, 2)
    (call,) = rows(service).values()
    assert (call["tool"], call["arguments"], call["failed"]) == ("bash", {"command": "make"}, True)
    assert (call["exit_code"], call["error"], call["redacted"]) == (2, "no rule", False)


def test_what_was_taken_back_is_marked_and_drawn_anew_alike(service: MemoryService) -> None:
    memories = service.local()
    calls = [ToolCall(f"c{n}", "read", {"n": n}, "x", prompt=f"p{n % 2}") for n in range(5)]
    memories.keep_calls(SCOPE, TALK, calls)
    assert memories.keep_calls(SCOPE, TALK, [], ["p1"]).rewound == 2
    assert memories.keep_calls(SCOPE, TALK, [], ["p1"]).rewound == 0
    before = rows(service)
    assert [call["rewound"] for call in before.values()] == [False, True, False, True, False]
    with service.database.writing() as execute:
        redraw(execute)
    assert list(rows(service).items()) == list(before.items())


PLACES = {
    "a text": {"command": f"curl -H 'Authorization: Bearer {GITHUB}'"},
    "a name": {GITHUB: 1},
    "deep": {"a": [{"b": ["x", GITHUB]}]},
    "by its name": {"env": {"DB_PASSWORD": "tiger-Lily-77"}},
    "by an option": {"argv": ["login", "--password", "tiger-Lily-77"]},
}


@pytest.mark.parametrize("arguments", PLACES.values(), ids=PLACES)
def test_secrets_are_in_no_file(service: MemoryService, arguments: dict[str, object]) -> None:
    call = ToolCall("a", "bash", arguments, f"token={GITHUB}", f"bad {GITHUB}", True, 1)
    done = service.local().keep_calls(SCOPE, TALK, [call, ToolCall("b", "ls", {"p": "."})])
    assert done.redacted == 1
    service.flush()
    everything = b"".join(p.read_bytes() for p in service.folder.rglob("*") if p.is_file())
    assert GITHUB.encode() not in everything
    assert b"tiger-Lily-77" not in everything
    assert [each["redacted"] for each in rows(service).values()] == [True, False]


def test_values_of_settings_files_are_secrets_also_in_a_later_half(service: MemoryService) -> None:
    memories = service.local()
    memories.keep_calls(SCOPE, TALK, [ToolCall("a", "bash", {"command": "cat web/.env"})])
    memories.keep_calls(SCOPE, TALK, [ToolCall("a", result="MODE=blue-heron\nexport A = b")])
    (call,) = rows(service).values()
    assert "blue-heron" not in str(call)
    assert call["redacted"] is True


@pytest.mark.parametrize(
    "command",
    [
        "sed -i 's/^MODE=.*/MODE=blue-heron/' .env",
        "sed -i 's|^MODE=.*|MODE=blue-heron|' web/.env.production",
        "printf 'MODE=%s\\n' blue-heron >> .env",
        "printf \"MODE=%s\" 'blue-heron' > .env",
    ],
)
def test_values_put_into_a_settings_file_are_secrets(command: str) -> None:
    kept = prepare_call(ToolCall("a", "bash", {"command": command}))
    assert "blue-heron" not in str(kept) and kept["redacted"] is True
    elsewhere = command.replace(".env.production", "a.txt").replace(".env", "a.txt")
    assert prepare_call(ToolCall("a", "bash", {"command": elsewhere}))["redacted"] is False


@pytest.mark.parametrize("odd", [float("inf"), float("nan"), 10**5000], ids=["inf", "nan", "huge"])
def test_numbers_that_json_does_not_have_are_refused(odd: float) -> None:
    with pytest.raises(UsageError, match="that JSON has"):
        prepare_call(ToolCall("a", "t", {"at": [odd]}))
    assert prepare_call(ToolCall("a", "t", {"at": [10**4299, 1.5]}))["arguments"] == {
        "at": [10**4299, 1.5]
    }


def test_ordinary_calls_stay_letter_by_letter() -> None:
    arguments = {
        "file_path": "/home/ada/shop/.env.example",
        "old_string": "    return x\r\n",
        "new_string": "\tpassword = read_password()\n",
        "env": "MODE=blue",
    }
    call = ToolCall("toolu_01A09q90qw90lq917835lq9", "Edit", arguments, " kept \n")
    kept = prepare_call(call)
    assert (kept["arguments"], kept["result"], kept["redacted"]) == (arguments, " kept \n", False)
    assert kept["id"] == call.id


@pytest.mark.parametrize("size", [HEAD + TAIL + 1, 30_000, 300_000])
def test_long_results_keep_both_ends(size: int) -> None:
    text = "first " + "m" * (size - 11) + " last"
    kept = prepare_call(ToolCall("a", "bash", {}, text))["result"]
    assert kept.startswith("first") and kept.endswith("last")
    assert "characters left out" in kept
    assert len(kept) < HEAD + TAIL + 60


@pytest.mark.parametrize("at", [HEAD - 20, HEAD + 5, 25_000 - 20, 300_000 - TAIL - 20])
def test_a_secret_at_a_cut_is_found(at: int) -> None:
    text = "m " * (at // 2) + GITHUB + " " + "n " * ((300_000 - at) // 2)
    kept = prepare_call(ToolCall("a", "bash", {}, text, text))
    assert GITHUB[8:] not in str(kept)
    assert not any(GITHUB[n : n + 12] in str(kept) for n in range(4, 30))


def test_erasing_leaves_nothing(service: MemoryService) -> None:
    memories = service.local()
    memories.keep_calls(SCOPE, TALK, [ToolCall("a", "bash", {"command": "sing quetzalcoatl"})])
    memories.erase(SCOPE, "asked for")
    service.flush()
    everything = b"".join(p.read_bytes() for p in service.folder.rglob("*") if p.is_file())
    assert b"quetzalcoatl" not in everything


def test_erasing_who_kept_them_takes_their_calls(service: MemoryService) -> None:
    memories = service.local()
    memories.keep_calls(SCOPE, TALK, [ToolCall("a", "bash", {"command": "sing quetzalcoatl"})])
    memories.erase(SCOPE, "asked for", person=memories.caller.who)
    assert rows(service) == {}
    with service.database.writing() as execute:
        redraw(execute)
    assert rows(service) == {}


def test_an_export_holds_them(service: MemoryService, tmp_path: Path) -> None:
    memories = service.local()
    calls = [ToolCall("a", "bash", {"n": [1]}, "x", prompt="p"), ToolCall("b", "ls", {}, "y")]
    memories.keep_calls(SCOPE, TALK, calls)
    memories.keep_calls(SCOPE, TALK, [], ["p"])
    lines = list(memories.export([SCOPE]))
    other = MemoryService(tmp_path / "other")
    assert other.local().read_export(SCOPE, lines).calls == 2
    assert other.local().read_export(SCOPE, lines).calls == 0
    assert rows(other) == rows(service)


def test_bad_calls_are_told_and_nothing_is_kept(service: MemoryService) -> None:
    memories = service.local()
    good = ToolCall("a", "bash")
    for bad in (ToolCall(""), ToolCall("b", at=10**18), ToolCall("c", "x", {"a": object()})):
        with pytest.raises(UsageError):
            memories.keep_calls(SCOPE, TALK, [good, bad])
    assert rows(service) == {}
