"""kill -9 at random moments of imports, reindexing and schema upgrades: nothing lost, nothing doubled.

    python -m bench.killed [--moments 50] [--only imports reindex upgrade hooks] [--seed 1]

Each moment is a trial of its own: a prepared memory is copied, a process begins the work on the copy and
is killed after a random share of the time that the work takes undisturbed; a trial that was through by
then is looked at all the same, and another moment is drawn. What is left must be whole and
hold nothing twice. Then the work is done again, to its end, and the memory must be what it is where nobody
was killed, to the last row. `hooks` is another kind: while sessions go on, hooks of tools and the daemon
behind them are killed by turns, and in the end everything must be there, once. Writes have their own test (`pytest tests/service/writing/test_processes.py`).
"""

import argparse
from collections.abc import Callable, Mapping, Sequence

from bench.events_killed import CHECKED, killed
from bench.killed_trials import Work, trials
from bench.killed_works import Imports, Reindex, Upgrade

MOMENTS = 50
HOOKS = "hooks"
WORKS: Mapping[str, Callable[[], Work]] = {
    "imports": Imports,
    "reindex": Reindex,
    "upgrade": Upgrade,
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--moments", type=int, default=MOMENTS)
    kinds = [*WORKS, HOOKS]
    parser.add_argument("--only", nargs="+", choices=sorted(kinds), default=kinds)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    bad = 0
    for name in given.only:
        if name == HOOKS:
            found, checked = killed(given.moments, given.seed), CHECKED
        else:
            work = WORKS[name]()
            found, checked = trials(work, given.moments, given.seed), work.checked
        print(
            f"{name}: killed at {found.killed} moments of some {found.seconds:.2f} s"
            f" ({found.tried} trials); {len(found.wrong)} wrong"
        )
        print(f"  checked: {checked}")
        for line in found.wrong:
            print(f"  {line}")
        bad += len(found.wrong)
    raise SystemExit(1 if bad else 0)


if __name__ == "__main__":
    main()
