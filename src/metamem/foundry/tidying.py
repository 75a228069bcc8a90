"""Keeping the stores of a scope in order: what nobody needs any more is put away, what is the same is one.

Nothing is deleted. What was put away comes back by itself when it happens again, or by `restore`. A tool that
is in use is never put away silently: one that nobody used for 30 days is taken out of use first, by the
ledger; it is offered again when it is judged again. Days are counted back from the last session of the scope: a project
that rests does not forget, and what is imported from long ago is not put away at once.
"""

from dataclasses import dataclass

from metamem.foundry.acts import note
from metamem.foundry.failures import store as failures
from metamem.foundry.lessons import store as lessons
from metamem.foundry.tools import deploying, deployments, runs
from metamem.foundry.tools import store as tools
from metamem.foundry.tools.site import Site
from metamem.foundry.workflows import store as workflows

UNUSED = 30 * 86_400_000  # milliseconds
UNUSED_WHY = "not used for 30 days"


@dataclass(frozen=True, slots=True)
class Tidied:
    """How many were put away, taken out of use, or became one with another."""

    failures: int = 0
    workflows: int = 0
    tools: int = 0
    lessons: int = 0
    retired: int = 0  # tools in use that nobody used
    merged: int = 0  # workflows

    @property
    def total(self) -> int:
        put_away = self.failures + self.workflows + self.tools + self.lessons
        return put_away + self.retired + self.merged


NOTHING = Tidied()


def tidy(site: Site, *, at: int) -> Tidied:
    """Do it once. Done again at once it does nothing."""
    scope = site.number
    before = _last_seen(site, at) - UNUSED
    retired = _retired(site, before, at)
    with site.database.writing() as execute:
        merged = workflows.merge_duplicates(execute, scope)
        done = Tidied(
            failures.archive_unused(execute, scope, before),
            workflows.archive_unused(execute, scope, before),
            tools.archive_unused(execute, scope, before),
            lessons.archive_unused(execute, scope, before),
            retired,
            merged,
        )
        for name in ("failures", "workflows", "tools", "lessons"):
            if count := getattr(done, name):
                note(execute, scope, "archived", "", f"{count} {name}: {UNUSED_WHY}", at)
        if merged:
            note(execute, scope, "merged", "", f"{merged} workflows are cases of others", at)
    return done


def _last_seen(site: Site, at: int) -> int:
    with site.database.reading() as execute:
        ((last,),) = execute("SELECT MAX(at) FROM calls WHERE scope = ?", (site.number,))
    return min(at, last) if last is not None else 0


def _retired(site: Site, before: int, at: int) -> int:
    with site.database.reading() as execute:
        idle = [
            each.kept
            for each in deployments.deployed(execute, site.number)
            if each.deployment.at < before
            and not runs.runs(execute, site.number, each.kept.slot, since=before)
        ]
    for kept in idle:
        deploying.disable(site, kept.slot, kept.id, why=UNUSED_WHY, at=at)
    return len(idle)
