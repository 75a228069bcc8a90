"""Where Foundry's loop is open: nobody looks, looks fail, nothing comes of them, nothing is judged, nobody decides.

They are told at the top of the report and after a look.
"""

from collections.abc import Iterator
from datetime import UTC, datetime

from metamem.core.amounts import many
from metamem.foundry.acts import CAME, LOOKED, READ, acts, cursor_of, failing
from metamem.foundry.tools import cooling, store
from metamem.foundry.tools.site import Site
from metamem.foundry.traces import Traces
from metamem.foundry.workflows import store as workflows
from metamem.foundry.workflows.candidates import SUCCESS, USES
from metamem.service.database import Database

HELD_OUT = 21  # cases that it takes at least, to pass without a failure
DAY = 86_400_000  # milliseconds
WAITING = 7 * DAY  # that a tool waits for a person before that is worth a word
UNSEEN = DAY  # that sessions wait for a look before that is worth a word
IDLE = 24  # sessions of which nothing came
_HOUSEKEEPING = ("failed", "oversaw", "archived", "merged")
UNWRITABLE = 10  # judged workflows of which none could be made a tool


def alarms(site: Site, *, at: int) -> list[str]:
    """All that a person should know first."""
    found = [failed(site), standing_still(site.database, site.number), unseen(site, at=at)]
    return [*filter(None, found), *open_loops(site, at=at)]


def failed(site: Site) -> str:
    """The last look did not come to its end."""
    with site.database.reading() as execute:
        last = failing(execute, site.number)
    return "" if last is None else f"the look of {minute(last.at)} failed: {last.why}"


def standing_still(database: Database, scope: int) -> str:
    """Sessions keep coming, and Foundry does nothing with them: never, or no more."""
    with database.reading() as execute:
        looked, came = cursor_of(execute, scope, LOOKED), cursor_of(execute, scope, CAME)
        read = cursor_of(execute, scope, READ)
        done = [each for each in acts(execute, scope) if each.what not in _HOUSEKEEPING]
    if done and not came:
        return ""  # something came of it before that was counted
    changed = Traces(database).changed(scope, came)
    # What came since the last look may wait for the next one.
    sessions = sum(each.event <= read for each in changed) if looked else len(changed)
    if sessions < IDLE:
        return ""
    if done:
        return f"{sessions} sessions came since anything was made of them ({minute(done[-1].at)})"
    if not looked:
        return (
            f"{sessions} sessions are kept, and nobody ever looked at them: metamem foundry oversee"
        )
    return f"{sessions} sessions were looked at, and nothing ever came of it"


def unseen(site: Site, *, at: int) -> str:
    """Sessions wait for a look that should have been long ago."""
    with site.database.reading() as execute:
        looked = cursor_of(execute, site.number, LOOKED)
        rows = execute(
            "SELECT COUNT(DISTINCT session) FROM calls WHERE scope = ? AND at > ? AND at <= ?",
            (site.number, looked, at - UNSEEN),
        )
    if not looked or at - looked < UNSEEN or not rows[0][0]:
        return ""
    return (
        f"{many(rows[0][0], 'session')} came since the last look, of {minute(looked)}: does the daemon run?"
        " metamem status"
    )


def open_loops(site: Site, *, at: int) -> list[str]:
    """Nothing is judged that could be, no tool can be written, nobody decides."""
    with site.database.reading() as execute:
        kept = workflows.workflows(execute, site.number)
        judged = cooling.judgements(execute, site.number)
        waiting = [t for t in store.tools(execute, site.number) if t.state == "waits"]
    return list(_open(kept, judged, [t for t in waiting if at - t.made_at > WAITING]))


def often(kept: workflows.Kept) -> bool:
    """Whether an evaluation may begin."""
    return kept.uses >= USES and kept.successes >= SUCCESS * kept.uses


def minute(at: int) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%d %H:%M")


def _open(
    kept: list[workflows.Kept], judged: list[cooling.Judgement], old: list[store.Kept]
) -> Iterator[str]:
    ready = [each for each in kept if often(each) and each.successes >= 2 * HELD_OUT]
    if ready and not judged:
        yield f"{many(len(ready), 'workflow')} could be judged, and none ever was"
    if len(judged) >= UNWRITABLE and all(each.decided == "none" for each in judged):
        yield f"a tool could be written of none of the workflows ({len(judged)} times tried)"
    if old:
        yield (
            f"{many(len(old), 'tool')} waited for a person for more than a week:"
            " metamem promotions pending"
        )
