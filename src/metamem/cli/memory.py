"""metamem remember, recall, briefing, feedback, why: memory from the shell."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from metamem.cli import memory_options as m
from metamem.cli.memory_options import HERE, There, scopes_of, when
from metamem.cli.screen import print_json, print_table, remark, say, tell
from metamem.cli.spread import spread
from metamem.cli.typed_text import check_text, stdin_lines
from metamem.core.errors import UsageError
from metamem.service.defaults import Defaults
from metamem.service.typed_time import before, moment
from metamem.service.words import TRUST, TYPES, VERDICTS, Ask, Draft, Verdict, Written

REMEMBER_EXAMPLES = """[bold]Examples[/bold]

metamem remember "We deploy from the release branch only." --type decision

metamem remember "I prefer tabs." --type preference --scope own --pin

metamem remember - --type observation < notes.txt [dim]# a fact a line[/dim]
"""
RECALL_EXAMPLES = """[bold]Examples[/bold]

metamem recall "how do we deploy?"

metamem recall "what did Ada say about ports" --speaker Ada --since 2026-01-01

metamem recall "what did we decide last week?"

metamem recall "login test" --text [dim]# as an agent reads it[/dim]
"""
_INDENT = " " * 11  # under the id
_MAY = {  # what people or models decide about
    "contradicts": "may contradict",
    "supersedes": "may take the place of",
    "repeats": "may repeat",
}
FEEDBACK_EXAMPLES = """[bold]Example[/bold]

metamem feedback RECALL FACT useful
"""


@spread()
def remember(
    texts: Annotated[
        list[str],
        typer.Argument(metavar="TEXT...", help="What to keep; - reads a fact a line from stdin."),
    ],
    scope: m.ScopeName = "",
    type: Annotated[
        str, typer.Option(metavar="TYPE", help=f"What it is: {', '.join(TYPES)}.")
    ] = "observation",
    source: Annotated[
        str, typer.Option(metavar="WHO", help=f"Whose words: {', '.join(TRUST)}.")
    ] = "user",
    author: Annotated[str, typer.Option(metavar="NAME", help="Who said it. Default: you")] = "",
    said: Annotated[str, typer.Option(metavar="TIME", help="When. Default: now")] = "",
    importance: Annotated[
        float | None, typer.Option(min=0, max=1, help="From 0 to 1. Default: as usual for the type")
    ] = None,
    supersedes: Annotated[
        str, typer.Option(metavar="FACT", help="The fact whose place it takes.")
    ] = "",
    pin: Annotated[bool, typer.Option("--pin", help="Always part of a briefing.")] = False,
    there: There = HERE,
) -> None:
    """Keep facts. Says of each whether it was stored, was known already, or was refused and why."""
    lines = [line for text in texts for line in (stdin_lines() if text == "-" else [text])]
    for line in lines:
        check_text(line)
    if not lines:
        raise UsageError("there is nothing to remember")
    if supersedes and len(lines) > 1:
        raise UsageError("one fact takes the place of one: give a single text")
    drafts = [
        Draft(
            line,
            type,
            source,
            "cli",
            author,
            moment(said),
            importance=importance,
            supersedes=supersedes,
            pinned=pin,
        )
        for line in lines
    ]
    with there.open(begins=True) as service:
        place = Defaults(service, Path.cwd()).written(scope)
        written = service.remember(place, drafts)
        gone = {name: service.get(name).text for each in written for name in each.superseded}
    if there.json:
        print_json({"scope": place, "written": written})
    else:
        for each in written:
            _show_written(each, gone)
        stored = sum(each.outcome == "stored" for each in written)
        say(f"{stored} of {len(written)} stored in {place}")
    if any(each.outcome == "refused" for each in written):
        raise typer.Exit(1)


@spread()
def recall(
    query: Annotated[str, typer.Argument(metavar="QUESTION", help="What you want to know.")],
    scope: m.ScopeNames = None,
    everywhere: m.Everywhere = False,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Facts at most.")] = 10,
    tokens: Annotated[int, typer.Option(min=1, help="Of all texts together.")] = 2000,
    type: Annotated[
        list[str] | None,
        typer.Option(metavar="TYPE", help="Only such; may be given several times."),
    ] = None,
    speaker: Annotated[str, typer.Option(metavar="NAME", help="Only what they said.")] = "",
    since: m.Since = "",
    until: m.Until = "",
    nearest: Annotated[
        bool, typer.Option("--nearest", help="What comes nearest, even if it does not answer.")
    ] = False,
    text: Annotated[bool, typer.Option("--text", help="As an agent is shown it.")] = False,
    there: There = HERE,
) -> None:
    """Ask memory. Gives the most relevant facts, or none."""
    with there.open() as service:
        found = service.recall(
            Ask(
                query,
                scopes_of(service, scope, everywhere),
                limit,
                tokens,
                tuple(type or ()),
                moment(since),
                before(until),
                speaker,
                floor=0.0 if nearest else None,
            )
        )
    if there.json:
        print_json(found)
        return
    if text:
        say(found.text)
        return
    for note in found.notes:
        remark(note)
    if not found.items:
        say("Nothing in memory speaks to that.")
        if not nearest:
            remark("--nearest shows what comes nearest")
        return
    rows = [
        (
            each.fact.id,
            f"{each.score:.2f}",
            each.fact.type,
            when(each.fact.said_at)[:10],
            each.fact.text,
        )
        for each in found.items
    ]
    print_table(("fact", "score", "type", "said", "text"), rows, numeric=("score",))
    say(f"why: metamem why {found.id}")


@spread()
def briefing(
    scope: m.ScopeNames = None,
    everywhere: m.Everywhere = False,
    tokens: Annotated[int, typer.Option(min=1, help="How long at most.")] = 1500,
    there: There = HERE,
) -> None:
    """What a new conversation should begin with."""
    with there.open() as service:
        made = service.briefing(scopes_of(service, scope, everywhere), tokens)
    if there.json:
        print_json(made)
    else:
        say(made.text or "There is nothing to tell yet.")


@spread()
def feedback(
    recall: Annotated[str, typer.Argument(metavar="RECALL", help="The id of a recall.")],
    fact: m.FactId,
    verdict: Annotated[
        str, typer.Argument(metavar="VERDICT", help=f"{', '.join(VERDICTS)}.", show_default=False)
    ],
    note: Annotated[
        str, typer.Option(metavar="WORDS", help="What was wrong, what it helped.")
    ] = "",
    there: There = HERE,
) -> None:
    """Say whether a fact that a recall showed was of use."""
    known: dict[str, Verdict] = {each: each for each in VERDICTS}
    if verdict not in known:
        raise UsageError(f"no verdict is called {verdict!r}", hint=f"known: {', '.join(VERDICTS)}")
    with there.open() as service:
        service.feedback(recall, fact, known[verdict], note)
    if there.json:
        print_json({"recall": recall, "fact": fact, "verdict": verdict})
    else:
        say("Noted.")


@spread()
def why(
    subject: Annotated[
        str, typer.Argument(metavar="ID", help="Of a recall or of a fact.", show_default=False)
    ],
    there: There = HERE,
) -> None:
    """Why a recall showed what it did, or where a fact comes from and what became of it."""
    with there.open() as service:
        about = service.why(subject)
    if there.json:
        print_json(about)
    elif "items" in about:
        _show_recall(about)
    else:
        _show_fact(about)


def _show_recall(about: dict[str, Any]) -> None:
    say(f"{about['kind']} of {when(about['at'])} by {about['who']}: {about['query']}")
    rows = [
        (
            item["fact"],
            f"{item['score']:.3f}",
            "yes" if item["shown"] else "no room",
            ", ".join(f"{who}: {verdict}" for who, verdict in item["feedback"].items()),
            ", ".join(_term(name, value) for name, value in item["why"].items()),
            item["text"],
        )
        for item in about["items"]
    ]
    if rows:
        columns = ("fact", "score", "shown", "feedback", "because of", "text")
        print_table(columns, rows, numeric=("score",))
    else:
        say("It showed nothing.")


def _term(name: str, value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(_term(each, part) for each, part in value.items())
    return f"{name} {value:.3g}" if isinstance(value, float) else f"{name} {value}"


def _show_fact(about: dict[str, Any]) -> None:
    fact = about["fact"]
    hidden = ("text", "id")
    tell(fact["id"])
    say(fact["text"])
    rows = [
        (name, when(value) if _is_time(name) else _plain(value))
        for name, value in fact.items()
        if name not in hidden and value not in (None, "", [], ())
    ]
    print_table(("", "value"), rows)
    if about.get("versions"):
        say("")
        was = [
            (
                str(v["version"]),
                when(v["at"]),
                v["changed_by"],
                v["lifecycle"],
                v["reason"],
                v["text"],
            )
            for v in about["versions"]
        ]
        print_table(("version", "at (UTC)", "by", "state", "reason", "text"), was)
    for link in about.get("links", ()):
        tell(f"{link['from']} {link['kind']} {link['to']}")
    if use := about.get("use"):
        said = [f"{verdict} {use[verdict]}" for verdict in VERDICTS if use[verdict]]
        last = f", last on {when(use['last_shown_at'])}" if use["last_shown_at"] else ""
        say("; ".join((f"shown {use['shown']} times{last}", *said)))


def _is_time(name: str) -> bool:
    return name.endswith("_at") or name.startswith("meant_")


def _plain(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _show_written(each: Written, gone: Mapping[str, str]) -> None:
    """`gone` are the texts of the facts whose place was taken."""
    if each.outcome == "refused":
        tell(f"refused    {each.reason}")
    else:
        tell(f"{each.outcome:<10} {each.id}")
    if each.redacted:
        say(f"{_INDENT}taken out as secret: {', '.join(each.redacted)}")
    if each.quarantined:
        say(f"{_INDENT}it reads like an instruction to a model: shown as data only")
    for name in each.superseded:
        tell(f"{_INDENT}takes the place of {name}: {gone[name]}")
    for candidate in each.candidates:
        may = _MAY.get(candidate.kind, "has to do with")
        tell(f"{_INDENT}{may} {candidate.fact}: {candidate.text}")
        say(f"{_INDENT}  because {candidate.reason}")
