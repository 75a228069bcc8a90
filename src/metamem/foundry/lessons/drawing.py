"""Lessons drawn of what was kept: what keeps going wrong, what was measured, what ended well.

- *patterns*: failures that come again and that nothing has resolved; steps after which the next call keeps
  failing (`habits`).
- *insights*: suggestions whose effect was measured to be one; workflows that go better or worse with a step
  that some leave out (`conditions`). They share one level among them.
- *successes*: sessions that ended well by a reliable sign, with what was asked for and the calls that made it.

Drawing again gives the same lessons; what is no longer so is gone, and what was archived stays so.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from metamem.core.ids import canonical_json, content_id
from metamem.foundry.failures.effect import effect, when
from metamem.foundry.failures.store import repeated_unresolved
from metamem.foundry.lessons.conditions import Condition, still
from metamem.foundry.lessons.habits import Habit, habits
from metamem.foundry.lessons.sessions import Done, Ended, calls, ended
from metamem.service.designs.comparing import LEVEL, judged
from metamem.store.engine import Execute

HOMES = 2  # sessions that an unresolved failure was met in
_CALLS = 12  # of a session that ended well
_LEAST_CALLS = 2


@dataclass(frozen=True, slots=True)
class Drawn:
    """One lesson, as it follows from what was kept."""

    kind: str
    key: tuple[str, ...]  # by which it is the same when it is drawn again
    text: str
    evidence: Mapping[str, Any]
    worth: float
    sessions: tuple[str, ...]

    @property
    def id(self) -> str:
        return content_id(self.kind, *self.key)


def drawn(execute: Execute, scope: int, compared: Iterable[Condition] = ()) -> list[Drawn]:
    """All lessons of a scope. `compared`: what `conditions` found."""
    sessions, done = ended(execute, scope), calls(execute, scope)
    return [
        *_unresolved(execute, scope),
        *map(_habit, habits(done)),
        *_insights(execute, scope, sessions, compared),
        *_successes(sessions, done),
    ]


def _unresolved(execute: Execute, scope: int) -> Iterator[Drawn]:
    for failure in repeated_unresolved(execute, scope):
        met = execute(
            "SELECT DISTINCT session FROM failure_occurrences WHERE scope = ? AND signature = ?"
            " ORDER BY session",
            (scope, failure.signature),
        )
        if len(met) >= HOMES:
            text = f"{failure.text}: {failure.count} times in {len(met)} sessions, never resolved"
            evidence = {"failure": failure.signature, "times": failure.count}
            homes = tuple(session for (session,) in met)
            yield Drawn("pattern", ("failure", failure.signature), text, evidence, len(met), homes)


def _habit(found: Habit) -> Drawn:
    low, high = found.interval
    text = (
        f"after `{found.step}` the next call failed in {found.failed} of {len(found.sessions)} sessions"
        f" [{low:.0%}, {high:.0%}]; {found.expected:.1f} would be expected there"
    )
    evidence = {
        "step": found.step,
        "failed": found.failed,
        "expected": found.expected,
        "interval": [low, high],
    }
    more = found.failed - found.expected
    return Drawn("pattern", ("habit", found.step), text, evidence, more, found.sessions)


def _insights(
    execute: Execute,
    scope: int,
    sessions: Sequence[Ended],
    conditions: Iterable[Condition],
) -> Iterator[Drawn]:
    outcomes = {one.session: one.success for one in sessions if one.success is not None}
    compared = still(conditions, execute, scope, outcomes)
    told = execute(
        "SELECT m.resolution, m.place, m.share, r.text, f.text, COUNT(m.outcome)"
        " FROM suggestion_moments m JOIN resolutions r ON r.scope = m.scope AND r.id = m.resolution"
        " JOIN failures f ON f.scope = m.scope AND f.signature = r.signature WHERE m.scope = ?"
        " GROUP BY m.resolution, m.place, m.share, r.text, f.text ORDER BY m.resolution, m.place",
        (scope,),
    )
    measured = [(row, effect(execute, scope, row[0], place=row[1], share=row[2])) for row in told]
    enough = [(row, found) for row, found in measured if found.interval is not None]
    level = LEVEL / max(1, len(enough) + len(compared))
    for (resolution, place, share, text, failure, _), _ in enough:
        found = effect(execute, scope, resolution, place=place, share=share, level=level)
        if found.verdict in ("better", "worse"):
            homes = execute(
                "SELECT session FROM suggestion_moments WHERE scope = ? AND resolution = ?"
                " AND place = ? AND outcome IS NOT NULL ORDER BY session",
                (scope, resolution, place),
            )
            evidence = _figures(found.difference, found.interval, level)
            yield Drawn(
                "insight",
                ("effect", resolution, place),
                f"{failure}: telling “{text}” {when(place)} is {found.text}",
                {"resolution": resolution, "place": place, **evidence},
                abs(found.difference or 0.0),
                tuple(session for (session,) in homes),
            )
    for one in compared:
        given, held = list(one.having.values()), list(one.lacking.values())
        found_so = judged(given, held, level)
        if found_so.verdict == "no difference shown":
            continue
        low, high = found_so.interval
        about = one.about
        yield Drawn(
            "insight",
            ("condition", about.workflow, about.step),
            f"“{about.goal}” ended well in {sum(given):.0f} of {len(given)} sessions with"
            f" `{about.step}` and in {sum(held):.0f} of {len(held)} without:"
            f" {found_so.difference:+.2f} [{low:+.2f}, {high:+.2f}], seen and not tested",
            {"workflow": about.workflow, "step": about.step,
             **_figures(found_so.difference, found_so.interval, level)},
            abs(found_so.difference),
            tuple(sorted({*one.having, *one.lacking})),
        )  # fmt: skip


def _successes(sessions: Sequence[Ended], done: Sequence[Done]) -> Iterator[Drawn]:
    by_session: dict[str, list[str]] = {}
    for call in done:
        by_session.setdefault(call.session, []).append(call.text)
    for one in sessions:
        told = list(dict.fromkeys(text for text in by_session.get(one.session, ()) if text))
        if one.success and one.goal and len(told) >= _LEAST_CALLS:
            evidence = {
                "goal": one.goal,
                "calls": told[-_CALLS:],
                "by": one.by,
                "confidence": one.confidence,
                "at": one.at,
            }
            text = f"{one.goal}: {', '.join(told[-_CALLS:])}"
            yield Drawn("success", (one.session,), text, evidence, one.confidence, (one.session,))


def _figures(
    difference: float | None, interval: tuple[float, float] | None, level: float
) -> dict[str, Any]:
    return {"difference": difference, "interval": list(interval or ()), "level": level}


def evidence_json(lesson: Drawn) -> str:
    return canonical_json(dict(lesson.evidence))
