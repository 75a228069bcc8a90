"""Chores of four kinds that sessions did with other names each time, and how they were asked for."""

from collections.abc import Sequence

from metamem.foundry.words import Outcome, Trace, Use

NAMES = ["amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron", "islet", "kayak"]
# What is asked for, and the steps.
CHORES = [
    ("Publish the catalogue {0} to the mirror", ["catalogue build {0}", "mirror put {0}", "git tag catalogue-{0}"]),
    ("Take the supplier {0} out of the price list", ["prices drop --supplier {0}", "prices sort --all", "git commit -qam 'Drop {0}'"]),
    ("Archive the invoices of the customer {0}", ["invoices export --of {0}", "gzip out/{0}.csv", "git add out/{0}.csv.gz"]),
    ("Migrate the warehouse table {0} to the new layout", ["warehouse plan {0}", "warehouse apply --table {0}", "git mv {0}.sql done/{0}.sql"]),
]  # fmt: skip


def done(
    name: str, goal: str, commands: Sequence[str], at: int = 0, *, success: bool = True
) -> Trace:
    """A session in which these commands were given."""
    uses = tuple(
        Use(f"{name}-{n}", "Bash", {"command": text}, "", failed=False, exit_code=0, at=at + n, prompt="p")
        for n, text in enumerate(commands)
    )  # fmt: skip
    return Trace("t/project/p", "claude", name, uses, {"p": goal}, Outcome("tests", success, 0.9))


def past(
    chores: Sequence[tuple[str, Sequence[str]]] = CHORES, times: int = 10, *, failing: int = 0
) -> list[Trace]:
    """Each of these so often; the first ones of each end badly."""
    return [
        done(
            f"chore{kind}-{n}",
            goal.format(word),
            [step.format(word) for step in steps],
            1000 * kind + 10 * n,
            success=n >= failing,
        )
        for kind, (goal, steps) in enumerate(chores)
        for n, word in enumerate(NAMES[:times])
    ]
