"""A report in words: Markdown that reads well as plain text.

What agents and users wrote stands in it as quotations, in one line each and without signs that a terminal or
Markdown would obey.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from metamem.core.ids import short
from metamem.foundry.failures.effect import when
from metamem.foundry.lessons.store import Lesson
from metamem.foundry.report import Repeated, Report, Solved
from metamem.foundry.tools.replayable import Replayable
from metamem.foundry.tools.watch import Watched
from metamem.service.writing.clean import one_line

WIDE = 160  # characters of what somebody wrote
LONG = 320  # of what several of them did
REASONS = 4  # why cases cannot be replayed


def as_markdown(report: Report) -> str:
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    yield f"# Foundry: {report.scope}"
    yield ""
    yield f"{_day(report.since)} to {_day(report.until)}. {report.sessions} sessions with {report.calls} calls of tools are known."
    for warning in report.warnings:
        yield f"**Warning:** {warning}"
    yield from _part("How sessions ended", _outcomes(report))
    yield from _part("Failures that something resolved", map(_solved, report.solved))
    yield from _part(
        "Failures that come again and nothing resolved",
        (
            f"- {_quoted(f.text)}: {f.count} times in {f.sessions} sessions"
            for f in report.unresolved
        ),
    )
    told = report.suggestions
    yield from _part(
        "Suggestions",
        [
            f"{told.chances} failures came for which something had worked before; suggested {told.shown} times,"
            f" withheld by chance {told.withheld}, outcome known of {told.settled}."
        ]
        if told.chances or told.moments
        else [],
    )
    # What comes again unresolved is told above.
    habits = [each for each in report.patterns if "step" in each.evidence]
    yield from _part("What keeps going wrong", map(_lesson, habits))
    yield from _part("What was measured", map(_lesson, report.insights))
    yield from _part(
        "What ended well",
        (_success(lesson, count) for lesson, count in report.successes),
    )
    yield from _part(
        "What is done again and again",
        [*map(_workflow, report.repeated), *_replayable(report.replayable)],
    )
    yield from _part("Tools in use", map(_tool, report.in_use))
    yield from _part(
        "Tools that wait for you",
        (
            f"- `{t.name}` ({short(t.id)}): {_quoted(t.tool.description)}; equal effects in at least"
            f" {t.lower:.0%} of cases. `metamem promotions approve {short(t.id)}`"
            for t in report.waiting
        ),
    )
    yield from _part("What was done", _deeds(report))


def _part(title: str, lines: Iterator[str] | Sequence[str]) -> Iterator[str]:
    found = list(lines)
    if found:
        yield from ("", f"## {title}", "", *found)


def _outcomes(report: Report) -> Iterator[str]:
    for by, (well, of) in sorted(report.outcomes.items(), key=lambda item: -item[1][1]):
        told = f"{of} sessions" if by == "unknown" else f"{well} of {of} went well"
        yield f"- by {by}: {told}" if by != "unknown" else f"- unknown: {told}"


def _solved(solved: Solved) -> str:
    failure, resolution = solved.failure, solved.resolution
    return (
        f"- {_quoted(failure.text)}: {failure.count} times in {failure.sessions} sessions. What worked:"
        f" {one_line(resolution.text, WIDE)} ({resolution.sessions} sessions). Telling it {when(solved.effect.place)}: {solved.effect.text}"
    )


def _lesson(lesson: Lesson) -> str:
    return f"- {one_line(lesson.text, LONG)}"


def _success(lesson: Lesson, count: int) -> str:
    told = lesson.evidence
    calls = ", ".join(one_line(call, WIDE) for call in told["calls"])
    return f"- {_quoted(told['goal'])} (by {told['by']}{f', {count} sessions' if count > 1 else ''}): {one_line(calls, LONG)}"


def _workflow(repeated: Repeated) -> str:
    kept, effect = repeated.kept, repeated.effect
    drawn = effect.shown.sessions + effect.withheld.sessions + effect.waiting
    telling = f". Telling it {when(effect.place)}: {effect.text}" if drawn else ""
    return (
        f"- {_quoted(kept.workflow.goal.split(' / ')[0] or 'no goal was told')}: {len(kept.workflow.steps)} steps, {kept.uses} times"
        f" in {kept.sessions} sessions, {kept.successes} went well. {one_line(repeated.next, 200)}{telling}"
    )


def _replayable(found: Replayable) -> Iterator[str]:
    if not found.of_cases:
        return
    yield ""
    told = (
        f"As far as the records tell, {found.workflows} of {found.of_workflows} workflows can be replayed,"
        f" and {found.cases} of their {found.of_cases} cases ({found.tried} were tried)."
    )
    why = [f"{one_line(reason, WIDE)} ({count})" for reason, count in found.why_not[:REASONS]]
    yield f"{told} Of the others: {'; '.join(why)}." if why else told


def _tool(watched: Watched) -> str:
    account, fitness = watched.account, watched.fitness
    worked = (
        f"{fitness.worked} of {fitness.counted} worked ({fitness.share.low:.0%} to {fitness.share.high:.0%})"
        if fitness.counted
        else "not used yet"
    )
    after = account.pays_after
    even = f"; pays after {after:.0f} uses" if after is not None else ""
    return (
        f"- `{watched.deployed.name}`: {account.uses} uses, {worked}; by hand {account.by_hand} times. Saved"
        f" {account.calls.value:+.0f} calls, {account.net.value:+.0f} tokens"
        f" ({account.net.low:+.0f} to {account.net.high:+.0f}) after what it cost{even}"
    )


def _deeds(report: Report) -> Iterator[str]:
    if report.deeds:
        yield (
            ", ".join(f"{what} {count}" for what, count in sorted(report.deeds.items()))
            + ". The last:"
        )
        yield ""
    for did in report.last:
        about = f" {short(did.subject)}" if did.subject else ""
        yield f"- {_minute(did.at)} {did.what}{about}: {one_line(did.why, WIDE)}"


def _quoted(text: str) -> str:
    return f"“{one_line(text, WIDE).replace('`', '’')}”"


def _day(at: int) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%d")


def _minute(at: int) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%d %H:%M")
