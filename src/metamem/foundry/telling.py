"""A report in words: Markdown that reads well as plain text.

What agents and users wrote stands in it as quotations, in one line each and without signs that a terminal or
Markdown would obey.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime

from metamem.core.amounts import many
from metamem.core.ids import short
from metamem.foundry.alarms import minute
from metamem.foundry.failures.effect import when
from metamem.foundry.failures.store import REPEATED
from metamem.foundry.lessons.store import Lesson
from metamem.foundry.report import Gone, Repeated, Report, Solved, Well, looked
from metamem.foundry.tools.replayable import Replayable
from metamem.foundry.tools.store import Kept
from metamem.foundry.tools.telling import ways
from metamem.foundry.tools.watch import Watched, account_line
from metamem.service.writing.clean import one_line

WIDE = 160  # characters of what somebody wrote
LONG = 320  # of what several of them did
REASONS = 4  # why cases cannot be replayed
# In which ways a failure was resolved of which there is nothing to tell.
_WAYS = {
    "again": "the same call worked later, and nothing tells why",
    "repair": "a check passed after edits, which is ordinary work",
    "changed": "another call worked, which must not be told to others",
    "step": "it worked after a step that must not be told to others",
}


def as_markdown(report: Report) -> str:
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    yield f"# Foundry: {report.scope}"
    yield ""
    yield from _head(report)
    yield from _part("How sessions ended", _outcomes(report))
    yield from _part(
        "Failures that something resolved",
        map(_solved, report.solved),
        report,
        "solved",
        "failures",
    )
    yield from _part(
        "Failures that come again and nothing resolved",
        (
            f"- {_quoted(f.text)}: {many(f.count, 'time')} in {many(f.sessions, 'session')}"
            for f in report.unresolved
        ),
        report,
        "unresolved",
        "failures",
    )
    yield from _part("Suggestions", _suggestions(report))
    yield from _part(
        "What keeps going wrong", map(_lesson, report.patterns), report, "patterns", "lessons"
    )
    yield from _part(
        "What was measured", map(_lesson, report.insights), report, "insights", "lessons"
    )
    yield from _part(
        "What ended well", map(_well, report.successes), report, "successes", "lessons"
    )
    yield from _part(
        "What is done again and again",
        map(_workflow, report.repeated),
        report,
        "repeated",
        "workflows",
    )
    yield from _replayable(report.replayable)
    yield from _part("Tools in use", map(_tool, report.in_use))
    yield from _part("Tools that wait for you", map(_waiting, report.waiting))
    yield from _part(
        "Tools that are out of use", map(_out, report.out_of_use), report, "out_of_use", ""
    )
    yield from _part("What was done", _deeds(report))


def _head(report: Report) -> Iterator[str]:
    """What there is, and what a person should know first."""
    known = f"{many(report.sessions, 'session')} with {many(report.calls, 'call')} of tools"
    if report.first_at:
        known += f", of {_day(report.first_at)} to {_day(report.last_at)},"
    plural = "is" if report.sessions == 1 else "are"
    yield f"{known} {plural} known. What was done is told from {_day(report.since)} to {_day(report.until)}."
    yield looked(report)
    told = [
        *(f"**Warning:** {one_line(warning, LONG)}" for warning in report.warnings),
        *map(_gone, report.disabled),
    ]
    for line in told:
        yield from ("", line)
    if report.failures:
        yield ""
        yield _failures(report)
    if report.put_away:
        yield ""
        yield f"{many(report.put_away, 'more failure')} put away: `metamem foundry failures --archived`."


def _failures(report: Report) -> str:
    """How many there are, and what came of them."""
    known = f"{many(report.failures, 'failure')} {'is' if report.failures == 1 else 'are'} known"
    rest = report.failures - report.resolved
    if not rest:
        return f"{known}, and something resolved {'it' if report.failures == 1 else 'each'}."
    few = f" ({report.few} met fewer than {REPEATED} times)" if report.few else ""
    if not report.resolved:
        return f"{known}, and nothing resolved {'it' if rest == 1 else 'them'}{few}."
    return f"{known}: something resolved {report.resolved}, and nothing the other {rest}{few}."


def _gone(gone: Gone) -> str:
    return (
        f"**Disabled:** the tool `{gone.name}` was taken out of use by itself, {minute(gone.at)} UTC:"
        f" {one_line(gone.why, WIDE)}. Its steps are done by hand again."
    )


def _part(
    title: str,
    lines: Iterable[str],
    report: Report | None = None,
    field: str = "",
    command: str = "",
) -> Iterator[str]:
    found = list(lines)
    if found:
        yield from ("", f"## {title}", "", *found)
    more = report.more.get(field, 0) if report is not None else 0
    if found and more:
        where = f"metamem foundry {command}" if command else "metamem tools"
        yield f"- … and {more} more: `{where}`"


def _outcomes(report: Report) -> Iterator[str]:
    ordered = sorted(report.outcomes.items(), key=lambda entry: (entry[0] == "unknown", -entry[1][1]))  # fmt: skip
    for by, (well, of) in ordered:
        told = f"{well} of {of} went well" if by != "unknown" else f"{of}"
        yield f"- by {by}: {told}" if by != "unknown" else f"- unknown: {told}"


def _suggestions(report: Report) -> Iterator[str]:
    told = report.suggestions
    if told.chances or told.moments:
        came = "failure came" if told.chances == 1 else "failures came"
        late = f", too late to be told {told.late}" if told.late else ""
        yield (
            f"{told.chances} {came} for which something had worked before; suggested"
            f" {many(told.shown, 'time')}, withheld by chance {told.withheld}{late}; what came of it"
            f" is known of {told.settled}."
        )


def _solved(solved: Solved) -> str:
    failure, resolution = solved.failure, solved.resolution
    met = f"- {_quoted(failure.text)}: {many(failure.count, 'time')} in {many(failure.sessions, 'session')}"
    if resolution is None or solved.effect is None:
        return f"{met}, resolved {many(failure.resolved, 'time')}: {_how(solved.ways)}"
    effect = solved.effect
    return (
        f"{met}. What worked: {one_line(resolution.text, WIDE)}"
        f" ({resolution.homes}). Telling it {when(effect.place)}: {effect.text}"
    )


def _how(ways_: Mapping[str, int]) -> str:
    usual = sorted(ways_, key=lambda way: (-ways_[way], way))
    return "; ".join(f"{_WAYS.get(way, way)} ({ways_[way]})" for way in usual)


def _lesson(lesson: Lesson) -> str:
    return f"- {one_line(lesson.text, LONG)}"


def _well(well: Well) -> str:
    told = well.lesson.evidence
    goal = ways(well.goal)[0] if well.goal else told["goal"]
    calls = ", ".join(one_line(call, WIDE) for call in told["calls"])
    often = f", {many(well.sessions, 'session')}" if well.sessions > 1 else ""
    such = "such as " if well.goal and well.sessions > 1 else ""
    return f"- {_quoted(goal)} (by {told['by']}{often}): {such}{one_line(calls, LONG)}"


def _workflow(repeated: Repeated) -> str:
    kept, effect = repeated.kept, repeated.effect
    drawn = effect.shown.sessions + effect.withheld.sessions + effect.waiting
    telling = f". Telling it {when(effect.place)}: {effect.text}" if drawn else ""
    goal = ways(kept.workflow.goal)[0] or "no goal was told"
    return (
        f"- {_quoted(goal)}: {many(len(kept.workflow.steps), 'step')}, {many(kept.uses, 'time')}"
        f" in {many(kept.sessions, 'session')}, {kept.successes} went well."
        f" {_sentence(one_line(repeated.next, LONG))}{telling}"
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
    rest = sum(count for _, count in found.why_not[REASONS:])
    why += [f"other reasons ({rest})"] if rest else []
    yield f"{told} Of the others: {'; '.join(why)}." if why else told


def _tool(watched: Watched) -> str:
    return f"- `{watched.deployed.name}`: {account_line(watched)}"


def _out(watched: Watched) -> str:
    deployment = watched.deployed.deployment
    since, until = _day(deployment.at), _day(deployment.ended_at or deployment.at)
    return (
        f"- `{watched.deployed.name}` ({short(watched.deployed.kept.id)}), in use {since} to {until}:"
        f" {one_line(deployment.why, WIDE)}. {_sentence(account_line(watched))}"
    )


def _waiting(kept: Kept) -> str:
    return (
        f"- `{kept.name}` ({short(kept.id)}): {_quoted(ways(kept.tool.description)[0])}; equal effects"
        f" in at least {kept.lower:.0%} of cases. `metamem promotions approve {short(kept.id)}`"
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
        yield f"- {minute(did.at)} {did.what}{about}: {one_line(did.why, LONG)}"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _quoted(text: str) -> str:
    return f"“{one_line(text, WIDE).replace('`', '’')}”"


def _day(at: int) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%d")
