"""How enrichment stands: what it read and drew, what it cost, what waits. Nothing at all is a warning."""

from dataclasses import dataclass

from metamem.core.access import Scope
from metamem.service.database import Database
from metamem.service.metered import Spent, spent
from metamem.service.writing.enrich import JOB, unread


@dataclass(frozen=True, slots=True)
class State:
    """Of all scopes, or of some."""

    read: int  # questions whose answers were entered
    stored: int  # facts that came of them
    waiting: int  # turns that nobody has looked at
    spent: Spent
    scopes: dict[str, int]  # turns that wait, by scope

    @property
    def warning(self) -> str:
        """What somebody should look at; empty where all is well."""
        if self.read and not self.stored:
            return f"{self.read} pieces of conversations were read, and no fact came of any"
        if self.spent.questions and not self.read:
            return f"{self.spent.questions} questions were asked, and no answer was entered"
        return ""


def state(database: Database, scopes: frozenset[Scope] | None = None) -> State:
    """How it stands; `scopes`: these alone, all else."""
    waiting: dict[str, int] = {}
    with database.reading() as execute:
        ((read, stored),) = execute(
            "SELECT COALESCE(SUM(ran), 0), COALESCE(SUM(acted), 0) FROM jobs WHERE name = ?",
            (JOB,),
        )
        ((began,),) = execute("SELECT COUNT(*) FROM jobs WHERE name = ?", (JOB,))
        for number, tenant, kind, name in execute(
            "SELECT number, tenant, kind, name FROM scopes WHERE erased_at IS NULL ORDER BY number"
        ):
            scope = Scope(tenant, kind, name)
            if (scopes is None or scope in scopes) and (count := unread(execute, number)):
                waiting[str(scope)] = count
    # Where it never ran there are no tables of spending yet, and none are made by looking.
    paid = spent(database, designs=False) if began else Spent()
    return State(read, stored, sum(waiting.values()), paid, waiting)
