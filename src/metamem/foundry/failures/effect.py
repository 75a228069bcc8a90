"""What suggestions do, measured: some are shown and some withheld by chance, and what came is compared.

Chance is drawn once for a failure in a session. Until the session ends the same side holds, at its start
and before every retry, so that a withheld suggestion does not come in by another way. How likely the
side was is kept with it. Only where something would have been shown is anything drawn: what is compared
differs in nothing but the showing. A use that was shown a suggestion counts as such whether or not the
agent heeded it.

- *retry*: the outcome is 1 where the same intent worked within `WITHIN` further calls, and else 0.
- *start*: the outcome is 1 where the session did not meet the failure, and else 0.
- *prompt*: of a workflow told in words, whose id stands in the places of the failure and of what resolved it. The
  outcome is 1 where none of the calls for that prompt failed, and else 0.

Another share that is withheld begins another comparison: figures of unlike shares are never mixed.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from metamem.core.errors import UsageError
from metamem.foundry.failures.intent import came
from metamem.foundry.failures.linking import Resolved, link
from metamem.foundry.failures.signature import signature
from metamem.foundry.words import Trace, Use
from metamem.service.designs.comparing import FEWEST, LEVEL, arm, judged
from metamem.service.designs.trials import chosen
from metamem.service.designs.words import Arm, Trial, Verdict
from metamem.store.engine import Execute, Value
from metamem.store.sql.base import insert

Place = Literal["retry", "start", "prompt"]

WITHHELD = 0.5  # equal sides show an effect soonest, and nothing is proven yet
WITHIN = 6  # calls after a failure in which it should be resolved
QUIET = 6 * 3_600_000  # milliseconds without a call after which a session is over
UNIT = "a failure in a session: one draw for each, kept until the session ends"


@dataclass(frozen=True, slots=True)
class Moment:
    """What was drawn for a failure in a session."""

    session: str
    signature: str
    place: Place
    resolution: str
    use: str  # the failed one; empty at a session's start
    withheld: bool
    propensity: float  # how likely this side was
    share: float  # that is withheld
    at: int
    times: int  # that it was shown
    outcome: float | None = None
    repeated: bool | None = None


@dataclass(frozen=True, slots=True)
class Effect:
    """What showing did, in outcomes of moments."""

    place: Place
    shown: Arm
    withheld: Arm
    difference: float | None = None  # shown less withheld
    interval: tuple[float, float] | None = None  # of it, 95 % however often one looks
    detectable: float | None = None  # the least effect that would likely be seen with so many
    verdict: Verdict = "not enough data yet"
    repeated: tuple[float, float] | None = None  # share that failed again so: shown, withheld
    waiting: int = 0  # moments whose outcome is not known yet
    unit: str = UNIT

    @property
    def text(self) -> str:
        """In a line, for people."""
        sides = f"{self.shown.sessions} shown, {self.withheld.sessions} withheld"
        if self.difference is None or self.interval is None or self.detectable is None:
            return f"{self.verdict}: {sides}; {FEWEST} on each side are needed"
        low, high = self.interval
        return (
            f"{self.verdict}: {self.difference:+.2f} [{low:+.2f}, {high:+.2f}] ({sides};"
            f" effects from {self.detectable:.2f} would likely be seen)"
        )


def when(place: str) -> str:
    """A place in words."""
    return {"retry": "before a retry", "start": "when a session begins"}.get(
        place, "when asked for"
    )


_COLUMNS = (
    "session, signature, place, resolution, use_id, withheld, propensity, share, at, times, outcome,"
    " repeated"
)


def draw(
    execute: Execute,
    scope: int,
    session: str,
    signature: str,
    resolution: str,
    *,
    place: Place,
    at: int,
    use: str = "",
    share: float = WITHHELD,
) -> Moment:
    """Which side a failure of a session is on: what was drawn before, or is drawn now."""
    known = moment_of(execute, scope, session, signature)
    if known is not None:
        return known
    if not 0.0 < share < 1.0:
        raise UsageError(f"the share that is withheld lies between 0 and 1, not at {share}")
    trial = Trial(id=f"failures of {scope}", design=resolution, share=share)
    choice = chosen(trial, resolution, f"{session}\0{signature}")
    columns: dict[str, Value] = {
        "scope": scope,
        "session": session,
        "signature": signature,
        "place": place,
        "resolution": resolution,
        "use_id": use,
        "withheld": int(choice.held_back),
        "propensity": choice.propensity,
        "share": share,
        "at": at,
        "times": 0,
    }
    insert(execute, "suggestion_moments", columns)
    return Moment(session, signature, place, resolution, use, choice.held_back, choice.propensity,
                  share, at, 0)  # fmt: skip


def moment_of(execute: Execute, scope: int, session: str, signature: str) -> Moment | None:
    rows = execute(
        f"SELECT {_COLUMNS} FROM suggestion_moments"
        " WHERE scope = ? AND session = ? AND signature = ?",
        (scope, session, signature),
    )
    return _moment(rows[0]) if rows else None


def note_shown(execute: Execute, scope: int, session: str, signature: str) -> None:
    execute(
        "UPDATE suggestion_moments SET times = times + 1"
        " WHERE scope = ? AND session = ? AND signature = ?",
        (scope, session, signature),
    )


def open_sessions(execute: Execute, scope: int) -> list[str]:
    """Those of whose moments something is not known yet."""
    rows = execute(
        "SELECT DISTINCT session FROM suggestion_moments WHERE scope = ? AND outcome IS NULL"
        " ORDER BY session",
        (scope,),
    )
    return [session for (session,) in rows]


def settle(execute: Execute, scope: int, trace: Trace, now: int) -> int:
    """Enter what came of a session's moments, as far as that is known; how many were settled."""
    rows = execute(
        f"SELECT {_COLUMNS} FROM suggestion_moments"
        " WHERE scope = ? AND session = ? AND outcome IS NULL",
        (scope, trace.session),
    )
    if not rows:
        return 0
    over = _is_over(trace, now)
    failed = {use.id: signature(use).id for use in trace.uses if came(use) == "failed"}
    resolved = {found.use.id: found for found in link(trace) if isinstance(found, Resolved)}
    count = 0
    for moment in map(_moment, rows):
        if moment.place == "start":
            met = moment.signature in failed.values()
            became = (0.0 if met else 1.0, met) if met or over else None
        elif moment.place == "prompt":
            became = _after_prompt(moment, trace, failed, over)
        else:
            became = _after_failure(moment, trace, failed, resolved, over)
        if became is None:
            continue
        outcome, repeated = became
        execute(
            "UPDATE suggestion_moments SET outcome = ?, repeated = ?"
            " WHERE scope = ? AND session = ? AND signature = ?",
            (outcome, int(repeated), scope, moment.session, moment.signature),
        )
        count += 1
    return count


def effect(
    execute: Execute,
    scope: int,
    resolution: str | Collection[str] = "",
    *,
    place: Place = "retry",
    share: float = WITHHELD,
    level: float = LEVEL,
) -> Effect:
    """Of one resolution, by all ids that it had, or of all suggestions of a scope. Whoever looks at several
    shares the level."""
    ids = [resolution] if isinstance(resolution, str) else sorted(resolution)
    only = f" AND resolution IN ({', '.join('?' * len(ids))})" if any(ids) else ""
    rows = execute(
        "SELECT withheld, outcome, repeated FROM suggestion_moments"
        f" WHERE scope = ? AND place = ? AND share = ?{only}",
        (scope, place, share, *filter(None, ids)),
    )
    sides = [[row for row in rows if bool(row[0]) is withheld] for withheld in (False, True)]
    given, held = ([row[1] for row in side if row[1] is not None] for side in sides)
    arms = arm(given, len(sides[0])), arm(held, len(sides[1]))
    waiting = len(rows) - len(given) - len(held)
    if min(len(given), len(held)) < FEWEST:
        return Effect(place, *arms, waiting=waiting)
    again = [[row[2] for row in side if row[2] is not None] for side in sides]
    found = judged(given, held, level)
    return Effect(
        place,
        *arms,
        found.difference,
        found.interval,
        found.detectable,
        found.verdict,
        (sum(again[0]) / len(again[0]), sum(again[1]) / len(again[1])),
        waiting,
    )


def _after_failure(
    moment: Moment,
    trace: Trace,
    failed: dict[str, str],
    resolved: dict[str, Resolved],
    over: bool,
) -> tuple[float, bool] | None:
    """What came after a failed use: whether it was resolved in time, and whether it failed so again."""
    where = moment.use if moment.use in failed else _first(moment.signature, failed)
    if where is None:
        return None
    later = _later(trace.uses, where)
    near = [use.id for use in later[:WITHIN]]
    again = any(failed.get(use) == moment.signature for use in near)
    found = resolved.get(where)
    if found is not None and found.by.id in near:
        return 1.0, again
    return (0.0, again) if over or len(later) >= WITHIN else None


def _after_prompt(
    moment: Moment, trace: Trace, failed: dict[str, str], over: bool
) -> tuple[float, bool] | None:
    """Whether a call failed of those for the prompt at which it was drawn."""
    later = [use for use in trace.uses if use.at is None or use.at >= moment.at]
    served = [use for use in later if use.prompt == later[0].prompt]
    if any(use.id in failed for use in served):
        return 0.0, True
    return (1.0, False) if over or len(served) < len(later) else None


def _first(wanted: str, failed: dict[str, str]) -> str | None:
    return next((use for use, named in failed.items() if named == wanted), None)


def _later(uses: Sequence[Use], where: str) -> list[Use]:
    """The same agent's calls after one, without those that were begun with it."""
    place = next(n for n, use in enumerate(uses) if use.id == where)
    failed = uses[place]
    return [
        use
        for use in uses[place + 1 :]
        if use.agent == failed.agent and not (use.group and use.group == failed.group)
    ]


def _is_over(trace: Trace, now: int) -> bool:
    last = max((use.at for use in trace.uses if use.at is not None), default=None)
    return trace.ended_at is not None or (last is not None and now - last > QUIET)


def _moment(row: tuple[Any, ...]) -> Moment:
    *told, withheld, propensity, share, at, times, outcome, repeated = row
    session, named, place, resolution, use = told
    again = None if repeated is None else bool(repeated)
    return Moment(session, named, place, resolution, use, bool(withheld), propensity, share, at,
                  times, outcome, again)  # fmt: skip
