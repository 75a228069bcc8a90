"""Tools in use: what turned bad is disabled within a few failures, what works is left alone; what it saves."""

from random import Random

import pytest

from metamem.foundry.acts import acts
from metamem.foundry.tools import runs
from metamem.foundry.tools.deployments import deployments
from metamem.foundry.tools.watch import LIMIT, alarm, counted_on
from metamem.sandbox import bubblewrap
from metamem.service.words import Session, ToolCall, Turn
from tests.foundry.tools.shop import Shop

needs_jail = pytest.mark.skipif(not bubblewrap.works(), reason="bwrap does not work here")
FAILS = "import pathlib, sys; sys.exit(pathlib.Path('broken').exists())"


def _first_alarm(share: float, uses: int, random: Random) -> tuple[int, int] | None:
    """At which use the alarm comes, and after how many failures; None where it does not."""
    count, failures = 0.0, 0
    for number in range(1, uses + 1):
        worked = random.random() < share
        count, failures = counted_on(count, worked), failures + (not worked)
        if count >= LIMIT:
            return number, failures
    return None


def test_a_tool_that_works_is_left_alone() -> None:
    """One that works 95 times of 100: one series of 100 uses in 1,000 ends by mistake."""
    random = Random(7)
    false = sum(_first_alarm(0.95, 100, random) is not None for _ in range(20_000))
    assert 8 <= false <= 40  # 21 are expected
    random = Random(17)
    false = sum(_first_alarm(0.95, 1_000, random) is not None for _ in range(2_000))
    assert 6 <= false <= 40  # 19 are expected


def test_a_tool_that_turned_bad_is_caught_within_a_few_failures() -> None:
    random = Random(8)
    found = [_first_alarm(0.2, 200, random) for _ in range(5_000)]
    failures = sorted(each[1] for each in found if each is not None)
    assert len(failures) == 5_000  # all of them
    assert sum(failures) / 5_000 == pytest.approx(4.6, abs=0.1)
    assert failures[4_750] <= 6
    assert _first_alarm(0.0, 10, random) == (4, 4)
    # Also after it worked for long.
    assert alarm([True] * 500 + [False] * 4) >= LIMIT > alarm([True] * 500 + [False] * 3)


def test_the_alarm_is_the_same_seen_whole_or_use_by_use() -> None:
    outcomes = [False, True, False, False, True, False, False]
    assert [alarm(outcomes[:n]) for n in range(8)] == [0, 1, 0.5, 1.5, 2.5, 2, 3, 4]


@needs_jail
def test_it_is_disabled_while_it_is_used_and_reported(shop: Shop) -> None:
    tool = shop.plant(FAILS)
    for number in range(3):
        assert shop.run(number=number).worked
    (shop.folder / "broken").touch()
    for number in range(3):
        done = shop.run(number=number)
        assert not done.worked and not done.disabled and shop.names() == ["planted"]
    last = shop.run(number=9)
    assert last.disabled == "4 of 7 uses failed" and "it is disabled" in last.line
    assert shop.names() == []
    entry = shop.site.archive.promotions()[-1]
    assert (entry.decision, entry.decided_by) == ("undone", "auto:watch")
    assert entry.evidence == {"uses": 7, "failed": 4, "alarm": 4.0}
    with shop.site.database.reading() as execute:
        told = [(a.what, a.subject) for a in acts(execute, shop.site.number)]
    assert told[-1] == ("disabled", tool)


@needs_jail
def test_the_version_before_comes_back(shop: Shop) -> None:
    first = shop.plant("print('one')")
    shop.plant("raise SystemExit(1)")
    for number in range(4):
        shop.run(number=number)
    assert [each.kept.id for each in shop.foundry.deployed()] == [first]
    assert shop.run().output == "one"


@needs_jail
def test_the_same_attempt_again_and_values_that_are_not_taken_do_not_count(shop: Shop) -> None:
    shop.plant("raise SystemExit(1)")
    for _ in range(6):
        shop.run(same=1)
    assert shop.names() == ["planted"]
    (seen,) = shop.foundry.watch()
    assert (seen.fitness.counted, seen.fitness.worked, seen.account.uses) == (1, 0, 6)
    shop.plant("raise SystemExit(2)", "picky")
    for number in range(5):
        shop.run("picky", number=number)
    assert shop.names() == ["picky", "planted"]


@needs_jail
def test_fitness_has_its_exact_interval(shop: Shop) -> None:
    shop.plant(FAILS)
    for number in range(9):
        shop.run(number=number)
    (shop.folder / "broken").touch()
    shop.run(number=9)
    (seen,) = shop.foundry.watch()
    share = seen.fitness.share
    assert share.value == 0.9
    assert (share.low, share.high) == (
        pytest.approx(0.5550, abs=1e-4),
        pytest.approx(0.9975, abs=1e-4),
    )


def _told(shop: Shop, session: str, calls: list[ToolCall], *prompts: str) -> None:
    at = shop.now[0]
    turns = tuple(
        Turn("user", text, "user", at, f"{session}-{n}") for n, text in enumerate(prompts)
    )
    about = Session(session, turns, "claude-code", started_at=at, ended_at=at + 60_000)
    shop.service.local().ingest(str(shop.site.scope), about)
    shop.service.local().keep_calls(str(shop.site.scope), about, calls)


def _called(session: str, result: str, at: int, number: int = 0, failed: bool = False) -> ToolCall:
    return ToolCall(f"{session}-{number}", "mcp__metamem__tool_planted", {"x": 1}, result,
                    result if failed else "", failed, at=at, prompt=f"{session}-0")  # fmt: skip


@needs_jail
def test_what_was_run_and_what_a_session_tells_of_it_count_once(shop: Shop) -> None:
    shop.plant("print('fine')")
    done = shop.run(x=1)
    cut = shop.run(x=2)
    at = shop.now[0]
    calls = [_called("s1", done.text(), at), _called("s1", "(output was cut)", at, 1)]
    command = ToolCall("s1-2", "Bash", {"command": "cd /p && metamem tool planted --json '{}'"},
                       "planted: done", failed=False, exit_code=0, at=at, prompt="s1-0")  # fmt: skip
    _told(shop, "s1", [*calls, command], "do it")
    for _ in range(2):
        shop.foundry.take_in()
        (seen,) = shop.foundry.watch()
        assert (seen.account.uses, seen.fitness.worked) == (3, 3)
    with shop.site.database.reading() as execute:
        found = runs.runs(execute, shop.site.number, seen.deployed.kept.slot)
    assert {run.session for run in found} == {"s1"}
    assert {done.run, cut.run} <= {run.id for run in found}


@needs_jail
def test_a_use_that_the_user_corrects_was_no_good(shop: Shop) -> None:
    shop.plant("print('fine')")
    done = shop.run(x=1)
    _told(
        shop, "s1", [_called("s1", done.text(), shop.now[0])], "do it", "no, that is wrong: undo it"
    )
    shop.foundry.take_in()
    (seen,) = shop.foundry.watch()
    assert (seen.fitness.worked, seen.fitness.counted) == (0, 1)


@needs_jail
def test_a_tool_that_only_seems_to_work_is_disabled_by_what_sessions_tell(lived: Shop) -> None:
    """It ends well each time, and each time the steps are then done by hand."""
    name = lived.deploy()
    slot = lived.foundry.deployed()[0].kept.slot
    held = lived.foundry.deployed()[0].deployment
    for number in range(60, 64):
        lived.now[0] += 1
        at = lived.now[0]
        lived.more(number, 1)
        # The tool was called first, for the same prompt.
        session = f"s{number}"
        with lived.site.database.writing() as execute:
            execute("UPDATE calls SET position = position + 1 WHERE session = ?", (session,))
        about = Session(session, (), "claude-code")
        tool = ToolCall(f"{session}-tool", f"mcp__metamem__tool_{name}", {"n": number}, "done",
                        failed=False, exit_code=0, at=at, prompt=f"{session}-p")  # fmt: skip
        lived.service.local().keep_calls(str(lived.site.scope), about, [tool])
        with lived.site.database.writing() as execute:
            execute("UPDATE calls SET position = 0 WHERE id = ?", (f"{session}-tool",))
    lived.foundry.take_in()
    assert lived.foundry.watch() == [] and lived.names() == []
    with lived.site.database.reading() as execute:
        (ended,) = deployments(execute, lived.site.number, slot)
    assert ended.number == held.number and ended.why == "4 of 4 uses failed"


@needs_jail
def test_what_it_saves_and_what_it_costs(lived: Shop) -> None:
    name = lived.deploy()
    given = [each.name for each in lived.foundry.deployed()[0].kept.tool.given]
    for number in range(3, 6):
        done = lived.run(name, **dict(zip(given, (f"1.{number}.0", "colour"), strict=True)))
        assert done.worked, done.output
    lived.more(60, 12)  # done by hand though the tool is there
    lived.foundry.take_in()
    (seen,) = lived.foundry.watch()
    account = seen.account
    assert (account.uses, account.by_hand) == (3, 12)
    # Five calls by hand, always: so there is nothing to be unsure of.
    assert (account.calls.low, account.calls.value, account.calls.high) == (12, 12, 12)
    assert account.each > 0 and account.tokens.low <= account.tokens.value <= account.tokens.high
    assert account.told > 0 and account.net.value == account.tokens.value - account.told
    assert account.pays_after == pytest.approx(account.told / account.each)
    assert not seen.warning


@needs_jail
def test_a_tool_that_nobody_uses_is_told(lived: Shop) -> None:
    lived.deploy()
    lived.more(60, 9)
    lived.foundry.take_in()
    assert lived.foundry.watch()[0].warning == ""
    lived.more(70, 3)
    lived.foundry.take_in()
    (seen,) = lived.foundry.watch()
    assert seen.warning == "the steps were done by hand 12 times, and the tool was never used"
