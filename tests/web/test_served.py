"""Designs that serve scopes, over a real server: advice, experiences, comparisons, counts."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from metamem.cli.main import run
from metamem.core.errors import Denied, UnknownName, UsageError
from metamem.core.types import Experience, Query, Step
from metamem.promotion.ledger import Ledger
from metamem.service.client import AsyncMemoryClient
from metamem.store.records import Place, Subject
from metamem.store.sqlite import SqliteArchive
from tests.extras import needs
from tests.service.designs.asking import ASKING, MODEL
from tests.service.designs.parts import A
from tests.web.serving import SHOP, Served, make_key, serving

needs("fastapi")
pytestmark = pytest.mark.slow
NAMED = ("--design", "no_memory", "--scope", SHOP)
LIVED = {"scope": SHOP, "experience": {"goal": "told"}}


def in_use(home: Path) -> None:
    with SqliteArchive(home / "archive.db") as archive:
        archive.add_design(A)
        subject, place, ledger = Subject("design", A.id), Place("scope", SHOP), Ledger(archive)
        ledger.promote(subject, place, reason="a test", evidence={})
        why = {"without_comparison": "a test"}
        ledger.approve(subject, place, by="ada", evidence=why)


@pytest.fixture(scope="module")
def designs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server whose archive has a design in use for the scope."""
    folder = tmp_path_factory.mktemp("designs")
    in_use(folder / "home")
    with serving(folder / "memory", "--archive", str(folder / "home")) as made:
        yield made


def count(served: Served, what: str) -> float:
    lines = served.ask("GET", "/metrics").text.splitlines()
    (line,) = (each for each in lines if each.startswith(what))
    return float(line.split()[-1])


def test_from_advice_to_its_outcome(designs: Served) -> None:
    asked, told = (count(designs, f'metamem_served_total{{what="{w}"}}') for w in ("asked", "experiences"))  # fmt: skip
    with designs.client() as client:
        lived = Experience("blue", steps=(Step("pull", "it runs", ("rest",), 1.0, True),), reward=1)
        first = client.experience(SHOP, lived)
        advised = client.advise(SHOP, Query("what now?", "dark", ("pull",)), session="s1")
        assert "blue" in advised.text.split() and advised.design == A.id
        assert advised.text in advised.fenced and "metamem-memory" in advised.fenced
        second = client.experience(SHOP, lived, moment=advised.moment)
        assert second.position == first.position + 1
        with pytest.raises(UnknownName):
            client.experience(SHOP, lived, moment="m0")
        assert client.standing(SHOP).back.outcomes == 1
        begun = client.compare(SHOP, A.id[:8], share=0.25)
        assert (begun.design, begun.share) == (A.id, 0.25)
        assert client.standing(SHOP).comparison.trial == begun
        assert client.end_comparison(SHOP) and not client.end_comparison(SHOP)
    assert count(designs, 'metamem_served_total{what="asked"}') == asked + 1
    assert count(designs, 'metamem_served_total{what="experiences"}') == told + 2
    assert count(designs, "metamem_served_open") == 1


def test_the_asynchronous_client_has_the_same_verbs(designs: Served) -> None:
    async def script() -> str:
        async with AsyncMemoryClient(designs.url, designs.key) as client:
            await client.experience(SHOP, Experience("awaited"))
            assert not await client.end_comparison(SHOP)
            assert (await client.standing(SHOP)).back.moments >= 0
            return (await client.advise(SHOP, Query("x"))).text

    assert "awaited" in asyncio.run(script()).split()


def test_an_experience_under_a_key_is_kept_once(designs: Served) -> None:
    headers = {"Idempotency-Key": "once"}
    first, again = (
        designs.ask("POST", "/v1/experiences", json=LIVED, headers=headers) for _ in range(2)
    )
    assert first.status_code == again.status_code == 200 and first.json() == again.json()
    assert again.headers["idempotency-replayed"] == "true"
    assert designs.ask("POST", "/v1/experiences", json=LIVED).json()["position"] == (
        first.json()["position"] + 1
    )
    other = LIVED | {"moment": "m1"}
    assert designs.ask("POST", "/v1/experiences", json=other, headers=headers).status_code == 409


@pytest.mark.parametrize(
    ("path", "body", "told"),
    [
        ("advice", {"scope": SHOP}, "goal is missing"),
        ("advice", {"scope": SHOP, "goal": " "}, "has a goal"),
        ("advice", {"scope": SHOP, "goal": "x", "more": 1}, "no 'more'"),
        ("advice", {"scope": SHOP, "goal": "x", "steps": [["go", "there"]]}, "must be an object"),
        ("advice", {"scope": SHOP, "goal": "x", "session": "s" * 300}, "at most 200"),
        ("experiences", {"scope": SHOP}, "experience is missing"),
        ("experiences", {"scope": SHOP, "experience": {"gaol": "x"}}, "no 'experience.gaol'"),
        ("experiences", {"scope": SHOP, "experience": {"reward": "much"}}, "must be a number"),
        ("experiences", {"scope": SHOP, "experience": {"messages": [{"text": "x"}]}}, "speaker"),
    ],
)
def test_what_is_wrong_is_told(designs: Served, path: str, body: dict, told: str) -> None:
    answer = designs.ask("POST", f"/v1/{path}", json=body)
    assert answer.status_code == 422 and told in answer.json()["detail"]


def test_rewards_beyond_numbers_are_refused(designs: Served) -> None:
    for path, text in (
        ("experiences", f'{{"scope": "{SHOP}", "experience": {{"reward": 1e999}}}}'),
        (
            "advice",
            f'{{"scope": "{SHOP}", "goal": "x",'
            ' "steps": [{"action": "a", "observation": "o", "reward": 1e999}]}',
        ),
    ):
        headers = {"Content-Type": "application/json"}
        answer = designs.ask("POST", f"/v1/{path}", content=text.encode(), headers=headers)
        assert answer.status_code == 422, answer.text


def test_rights_hold(designs: Served) -> None:
    reads = make_key(designs.folder, rights=("read",), scopes=(SHOP,))
    writes = make_key(designs.folder, rights=("write",), scopes=(SHOP,))
    with designs.client(reads) as reader, designs.client(writes) as writer:
        with pytest.raises(Denied):
            reader.experience(SHOP, Experience("x"))
        with pytest.raises(Denied):
            writer.advise(SHOP, Query("x"))
        with pytest.raises(Denied):
            reader.compare(SHOP, A.id)
        assert reader.advise(SHOP, Query("x")).text
        first, second = (writer.experience(SHOP, Experience("x")).position for _ in range(2))
        assert second == first + 1


def test_the_commands_go_to_a_server(designs: Served, monkeypatch, capsys) -> None:
    monkeypatch.setenv("METAMEM_URL", designs.url)
    monkeypatch.setenv("METAMEM_KEY", designs.key)
    monkeypatch.setenv("METAMEM_MEMORY", os.devnull)
    lived = Path(designs.folder) / "e.json"
    lived.write_text('{"goal": "typed", "steps": [["go", "there", [], 1, true]], "reward": 1}')
    assert run(["experience", str(lived), "--scope", SHOP]) == 0
    assert run(["advise", "what now?", "--scope", SHOP]) == 0
    assert "typed" in capsys.readouterr().out
    assert run(["served", "show", SHOP]) == 0
    assert run(["served", "compare", SHOP, A.id[:8]]) == 0
    assert run(["served", "end", SHOP]) == 0
    assert f"ended in {SHOP}" in capsys.readouterr().out
    assert run(["advise", "x", "--scope", SHOP, "--design", "no_memory"]) == 2


def test_it_is_described_with_examples(designs: Served) -> None:
    paths = designs.ask("GET", "/openapi.json").json()
    for path in ("/v1/advice", "/v1/experiences"):
        described = paths["paths"][path]["post"]
        body = described["requestBody"]["content"]["application/json"]
        assert body["example"]["scope"] and not body["schema"]["additionalProperties"]
        assert "Idempotency-Key" in [each["name"] for each in described["parameters"]]
    for kind in ("Experience", "Step", "Message"):
        assert paths["components"]["schemas"][kind]["additionalProperties"] is False


def test_a_design_is_named_for_a_scope_without_an_archive(tmp_path: Path) -> None:
    file = tmp_path / "design.py"
    file.write_text(A.source)
    more = ("--design", str(file), "--scope", SHOP)
    with serving(tmp_path / "memory", *more) as served, served.client() as client:
        client.experience(SHOP, Experience("named"))
        assert client.advise(SHOP, Query("x")).text == "A: named"
        client.erase(SHOP, "asked to")
        with pytest.raises(Denied):
            client.advise(SHOP, Query("x"))


def test_a_design_that_asks_a_model_is_answered_within_its_limit(tmp_path: Path) -> None:
    file = tmp_path / "design.py"
    file.write_text(ASKING.source)
    more = ("--design", str(file), "--scope", SHOP, "--model", f"memory={MODEL}")
    memory = tmp_path / "memory"
    for _ in range(2):  # started again it knows what was said, and what it cost
        with serving(memory, *more, "--max-tokens", "4116") as served, served.client() as client:
            client.experience(SHOP, Experience("one"))
            found = client.advise(SHOP, Query("x and y"))
            assert found.text == "quuxanswer1 nothing" and "budget" in found.note
            assert count(served, "metamem_served_model_stopped") == 1
            assert 0 < count(served, "metamem_served_model_tokens") <= 4116
            (warning,) = served.ask("GET", "/readyz").json()["warnings"]
            assert "served designs" in warning and "budget" in warning
    with serving(memory, *more, "--max-tokens", "100000") as served, served.client() as client:
        told = client.advise(SHOP, Query("x and y"))
        assert told.text.split() == ["quuxanswer1", "quuxanswer1", "quuxanswer2"] and not told.note
        assert count(served, 'metamem_served_model_total{what="asked"}') == 2  # "one" again, and it
        assert count(served, "metamem_served_model_stopped") == 0


def test_a_server_without_designs_says_how_to_have_them(served: Served) -> None:
    with served.client() as client:
        with pytest.raises(UsageError, match="no designs are served here") as refused:
            client.advise(SHOP, Query("x"))
        assert "metamem serve --archive" in refused.value.hint
        with pytest.raises(UsageError, match="no designs are served here"):
            client.experience(SHOP, Experience("x"))


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (("--design", "nonsense", "--scope", SHOP), "no design called 'nonsense'"),
        (("--design", "no_memory"), "a design is named for a scope"),
        (("--design", "no_memory", "--scope", "shop"), "'shop' is not a scope"),
        (("--model", f"memory={MODEL}"), "nothing here would ask a model"),
        (("--max-money", "5"), "nothing here would ask a model"),
        ((*NAMED, "--model", f"memory={MODEL}"), "needs a limit"),
        ((*NAMED, "--max-money", "5"), "no model is named for the role 'memory'"),
        ((*NAMED, "--model", "agent=scripted:demo", "--max-money", "5"), "no model is named"),
        ((*NAMED, "--model", "memory=openai:x", "--max-money", "5"), "there is no key"),
    ],
)
def test_a_design_that_cannot_be_served_is_told_at_once(
    tmp_path: Path, capsys, monkeypatch, more: tuple[str, ...], told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("METAMEM_HOME", "METAMEM_MODEL_MEMORY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    words = ["serve", "--port", "0", "--memory", str(tmp_path), *more]
    assert run(words) == 2
    assert told in capsys.readouterr().err
