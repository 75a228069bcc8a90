"""kill -9 in the middle of imports, reindexing and upgrades: a few moments here, fifty in the bench."""

import time
from pathlib import Path

import pytest
from bench.killed_trials import Work, trials
from bench.killed_works import Imports, Reindex, Upgrade

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    "work", [Imports(sessions=2, lines=20), Reindex(facts=300), Upgrade(facts=200)]
)
def test_nothing_is_lost_and_nothing_doubled(work: Work) -> None:
    found = trials(work, 2, seed=5)
    assert found.wrong == ()


class Careless:
    """Adds lines to a file and notes nowhere how far it came."""

    name = "careless"
    checked = "lines"

    def prepare(self, folder: Path) -> None:
        (folder / "lines").touch()

    def run(self, folder: Path) -> None:
        for number in range(100):
            with (folder / "lines").open("a") as file:
                file.write(f"{number}\n")
            time.sleep(0.002)

    def check_killed(self, folder: Path, before: Path) -> None:
        pass

    def outcome(self, folder: Path) -> str:
        return (folder / "lines").read_text()


def test_work_that_doubles_is_found_out() -> None:
    found = trials(Careless(), 2, seed=1)
    assert found.killed and found.wrong
