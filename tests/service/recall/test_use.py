"""What was shown is kept, and what people say of it."""

from pathlib import Path

import pytest

from metamem.core.access import Caller
from metamem.core.errors import UnknownName, UsageError
from metamem.service.recall.use import Recorder, Shown
from metamem.service.words import Ask, Verdict
from tests.service.recall.engine import ADA, BOB, BOTH, HOME, SHOP, memory

PEER = Caller("acme", "pia", reads=frozenset({SHOP}))


def test_why_tells_what_a_recall_rests_on_and_what_came_of_it(tmp_path: Path) -> None:
    with memory(tmp_path) as here:
        (written,) = here.keep("The shop runs on PostgreSQL 16.")
        found = here.recaller.recall(ADA, Ask("which postgresql", floor=0.0))
        here.recaller.feedback(ADA, found.id, written.id, "unused")
        here.recaller.feedback(ADA, found.id, written.id[-8:], "useful", "it was right")
        here.recaller.feedback(PEER, found.id, written.id, "wrong")
        told = here.recaller.why(ADA, found.id)
        (item,) = told["items"]
        assert (told["query"], told["who"], item["fact"]) == ("which postgresql", "ada", written.id)
        assert item["why"]["relevance"] > 0
        assert item["propensity"] == 1
        assert item["feedback"] == {"ada": "useful", "pia": "wrong"}
        fact = here.recaller.why(PEER, written.id)
        assert fact["use"] == {
            "shown": 1, "last_shown_at": told["at"], "useful": 1, "unused": 0, "wrong": 1,
        }  # fmt: skip
        assert fact["event"]["kind"] == "remembered"
        assert [each["version"] for each in fact["versions"]] == [1]


def test_whoever_may_not_read_cannot_judge_or_ask_why(tmp_path: Path) -> None:
    with memory(tmp_path) as here:
        (written,) = here.keep("The shop runs on PostgreSQL 16.")
        found = here.recaller.recall(BOTH, Ask("which postgresql", floor=0.0))
        for stranger in (BOB, ADA, Caller("other", "eve")):
            with pytest.raises(UnknownName):
                here.recaller.feedback(stranger, found.id, written.id, "useful")
            with pytest.raises(UnknownName):
                here.recaller.why(stranger, found.id)
        with pytest.raises(UnknownName):
            here.recaller.why(BOB, written.id)
        with pytest.raises(UnknownName):
            here.recaller.feedback(BOTH, found.id, "f00000000", "useful")
        verdict: Verdict = "splendid"  # type: ignore[assignment]
        with pytest.raises(UsageError):
            here.recaller.feedback(BOTH, found.id, written.id, verdict)


def test_what_somebody_asked_is_told_to_them_and_to_managers_alone(tmp_path: Path) -> None:
    one, every = frozenset({SHOP}), frozenset({SHOP, HOME})
    manager = Caller("acme", "mia", reads=one, manages=one)
    blind = Caller("acme", "max", manages=every)
    elsewhere = Caller("acme", "ned", reads=every, manages=frozenset({HOME}))
    with memory(tmp_path) as here:
        (written,) = here.keep("The shop runs on PostgreSQL 16.")
        ask = Ask("which postgresql", (str(SHOP),), floor=0.0)
        found = here.recaller.recall(BOTH, ask)
        for other in (PEER, ADA, blind, elsewhere):
            with pytest.raises(UnknownName, match="there is no recall"):
                here.recaller.why(other, found.id)
        assert here.recaller.why(manager, found.id)["query"] == "which postgresql"
        here.recaller.feedback(PEER, found.id, written.id, "useful")  # that tells nobody anything
        both = here.recaller.recall(BOTH, Ask("which postgresql", (str(SHOP), str(HOME))))
        assert here.recaller.why(manager, both.id)["settings"]["scopes"] == [str(SHOP)]
        assert here.recaller.why(BOTH, both.id)["settings"]["scopes"] == [str(SHOP), str(HOME)]


def test_secrets_in_questions_are_not_kept(tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    with memory(tmp_path) as here:
        here.keep("The shop runs on PostgreSQL 16.")
        found = here.recaller.recall(ADA, Ask(f"is {secret} for postgresql?"))
        assert secret not in here.recaller.why(ADA, found.id)["query"]
    for path in tmp_path.iterdir():
        assert secret.encode() not in path.read_bytes()


def test_a_full_queue_drops_the_oldest_and_counts_it(tmp_path: Path) -> None:
    with memory(tmp_path) as here, here.database.writing():  # nothing can be written meanwhile
        recorder = Recorder(here.database, most=3)
        recorder._closed = True  # no thread of its own: what is written is up to the test
        for n in range(5):
            recorder.record(Shown(f"r{n}", "acme", "ada", n, "recall", "", {}, (1,), ()))
        assert recorder.dropped == 2
    with memory(tmp_path) as here:
        recorder = Recorder(here.database, most=3)
        for n in range(3):
            recorder.record(Shown(f"r{n}", "acme", "ada", n, "recall", "", {}, (1,), ()))
        recorder.close()
        assert (recorder.recorded, recorder.dropped) == (3, 0)
