"""All that whoever writes the next design should know of the last ones, within a budget.

Where there is too much, evidence is sampled: fewer episodes, fewer steps of each from the middle,
fewer tasks and ancestors. Code is shown whole or not at all, and the parent's always.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from random import Random
from statistics import fmean

from metamem.core.ids import derive_seed, short
from metamem.core.tokens import count_tokens
from metamem.search.fitting import fenced, first_that_fit, indented, one_line, shortened
from metamem.search.proposer import Ancestor, Evidence, ParentView, Request

# Of what is left when a section's turn comes, the share that it may take at most.
DOMAIN, EVIDENCE, LINEAGE, TRIED, TASKS, EPISODES = 0.15, 0.15, 0.15, 0.15, 0.25, 0.75
ERROR_TOKENS = 120  # of an example of what went wrong
NOTE_TOKENS = 80  # of what an ancestor changed, or of an invariant
NAME_TOKENS = 20  # of a task's id or kind

NO_PARENT = "There is no design to build on yet: the next one is the first."


def dossier(
    request: Request, tokens: int, episodes: Callable[[Random, int], str], latest: str = ""
) -> str:
    """A document about the first parent, in at most so many tokens (but see above about code).

    `episodes` shows some that were played with it, by chance and within so many tokens; `latest`
    is what is to be told of the reader's own last design.
    """
    luck = Random(derive_seed("dossier", request.seed))
    left = tokens

    def spend(text: str) -> str:
        nonlocal left
        left -= count_tokens(text)
        return text

    def room(share: float) -> int:
        return max(0, int(left * share))

    if not request.parents:
        start = spend(f"## The design\n\n{NO_PARENT}")
        return "\n\n".join(filter(None, [_domain(request, left), start]))
    view, *lenders = request.parents
    score = spend(_score(view, request))
    code = spend(f"### Its code\n\n{fenced(view.design.source, 'python')}")
    domain = spend(_domain(request, room(DOMAIN)))
    evidence = spend(_evidence(view.evidence, room(EVIDENCE)))
    lineage = spend(_lineage(view, room(LINEAGE)))
    tried = spend(_tried(view, room(TRIED)))
    spend(latest)
    tasks = spend(_tasks(view, luck, room(TASKS)))
    seen = spend(episodes(luck, room(EPISODES)))
    others = spend(_others(view, lenders, left))
    parts = [domain, score, evidence, code, lineage, tried, tasks, latest, seen, others]
    return "\n\n".join(filter(None, parts))


def _section(title: str, lines: Sequence[str], tokens: int) -> str:
    """A heading and the first lines that fit; nothing where none does."""
    kept = first_that_fit(lines, tokens - count_tokens(title))
    return f"{title}\n\n" + "\n".join(kept) if kept else ""


def _domain(request: Request, tokens: int) -> str:
    """What is known about the domain beforehand; nothing where hints are not allowed."""
    if not request.hints:
        return ""
    title = "## The domain"
    about = shortened(request.domain_description.strip(), (tokens - count_tokens(title)) // 2)
    always = [f"- {one_line(shortened(each, NOTE_TOKENS))}" for each in request.invariants]
    if always:
        always = ["", "What always holds:", "", *always]
    return _section(title, [*filter(None, [indented(about)]), *always], tokens)


def _score(view: ParentView, request: Request) -> str:
    told = str(view.score) if view.score else f"{view.mean:.3f}"
    lines = [f"## The design {short(view.design.id)}", "", f"Its mean reward: {told}."]
    if view.origin is not None and view.origin.gain is not None:
        lines.append(f"Against its own parent: {view.origin.gain:+.3f}.")
    if request.agent:
        lines.append(f"Its advice was read by the agent `{request.agent}`.")
        lines.append(f"Memory is asked {request.asked}." if request.asked else "")
    return "\n".join(lines).rstrip()


def _evidence(found: Evidence, tokens: int) -> str:
    if not found.cases:
        return ""
    lines = [
        f"- cases played: {found.cases}",
        f"- memory had nothing to say: {found.empty:.0%} of the cases",
        f"- of the cases with advice, beside the same cases without: the agent acted just the same in"
        f" {found.ignored:.0%}, gained in {found.helped:.0%}, lost in {found.hurt:.0%}, acted otherwise"
        f" for nothing in {found.vain:.0%}; in the rest it was rewarded in full either way",
        f"- of the tasks that failed, those that failed every time: {found.repeated:.0%}",
        f"- the advice: {found.tokens:.0f} tokens on average, cut in {found.truncated:.0%}",
        f"- the design itself failed: {found.errors:.0%} of the cases",
    ]
    if found.error:
        lines.append("- for example:\n" + indented(shortened(found.error, ERROR_TOKENS)))
    return _section("### How it fared", lines, tokens)


def _lineage(view: ParentView, tokens: int) -> str:
    line = [*filter(None, [view.origin]), *view.lineage]
    title = "### How it came about, the newest change first"
    return _section(title, [_change(ancestor) for ancestor in line], tokens)


def _tried(view: ParentView, tokens: int) -> str:
    """What was made of it already: so that nobody tries the same again."""
    title = "### What was tried from here already, the newest first"
    children = [_change(child) for child in view.children]
    nothing = [f"- nothing came of: {one_line(shortened(f, NOTE_TOKENS))}" for f in view.fruitless]
    in_turn = [line for pair in zip_longest(children, nothing) for line in pair if line]
    return _section(title, in_turn, tokens)


def _change(ancestor: Ancestor) -> str:
    gained = "a beginning" if ancestor.gain is None else f"gained {ancestor.gain:+.3f}"
    note = one_line(shortened(ancestor.note, NOTE_TOKENS))
    operator = one_line(shortened(ancestor.operator, NOTE_TOKENS))
    mean = str(ancestor.score) if ancestor.score else f"{ancestor.mean:.3f}"
    return f"- {short(ancestor.id)} ({operator}; {gained}, then {mean}): {note}"


def _tasks(view: ParentView, luck: Random, tokens: int) -> str:
    """Rewards by kind of task, then the tasks where it differs most from others."""
    title = "### Task by task (its reward; its parent's; the best of any other design)"
    kinds = _section(title, _by_kind(view), tokens)
    if not kinds:
        return ""
    parts = [kinds]
    left = tokens - count_tokens(kinds)
    for heading, tasks in (
        ("It loses these, and another design wins them:", _gaps(view, luck)),
        ("It lost these since its parent:", _changed(view, luck, -1)),
        ("It won these since its parent:", _changed(view, luck, 1)),
    ):
        part = _section(heading, [_task(view, task) for task in tasks], left // 2)
        left -= count_tokens(part)
        parts += filter(None, [part])
    return "\n\n".join(parts)


def _by_kind(view: ParentView) -> list[str]:
    """One line a kind, those with most to gain first, then those that fail most."""
    groups: dict[str, list[str]] = {}
    for task in view.rewards:
        groups.setdefault(view.kinds.get(task, ""), []).append(task)

    def gap(kind: str) -> float:
        tasks = groups[kind]
        return sum(view.rewards[t] - max(view.rewards[t], view.others.get(t, 0.0)) for t in tasks)

    def mean(kind: str) -> float:
        return fmean(view.rewards[t] for t in groups[kind])

    return [
        f"- {one_line(shortened(kind, NAME_TOKENS)) or 'all'}, {len(groups[kind])} tasks: "
        f"{mean(kind):.2f}; "
        f"{_mean_of(view.before, groups[kind])}; {_mean_of(view.others, groups[kind])}"
        for kind in sorted(groups, key=lambda kind: (gap(kind), mean(kind), kind))
    ]


def _mean_of(rewards: Mapping[str, float], tasks: Sequence[str]) -> str:
    known = [rewards[task] for task in tasks if task in rewards]
    return f"{fmean(known):.2f}" if known else "-"


def _gaps(view: ParentView, luck: Random) -> list[str]:
    """The tasks that some other design does better, the widest gap first, equals by chance."""
    gaps = {task: view.others.get(task, 0.0) - reward for task, reward in view.rewards.items()}
    return _widest({task: gap for task, gap in gaps.items() if gap > 0}, luck)


def _changed(view: ParentView, luck: Random, sign: int) -> list[str]:
    changes = {t: sign * (r - view.before[t]) for t, r in view.rewards.items() if t in view.before}
    return _widest({task: change for task, change in changes.items() if change > 0}, luck)


def _widest(gaps: dict[str, float], luck: Random) -> list[str]:
    tasks = sorted(gaps)
    luck.shuffle(tasks)
    return sorted(tasks, key=lambda task: -gaps[task])


def _task(view: ParentView, task: str) -> str:
    kind = one_line(shortened(view.kinds.get(task, ""), NAME_TOKENS))
    name = one_line(shortened(task, NAME_TOKENS))
    named = f"{name} ({kind})" if kind else name
    rewards = [view.rewards.get(task), view.before.get(task), view.others.get(task)]
    return f"- {named}: " + "; ".join("-" if r is None else f"{r:.2f}" for r in rewards)


def _others(ours: ParentView, lenders: Sequence[ParentView], tokens: int) -> str:
    """Designs that may do better where this one does not: with their code, where it fits whole."""
    title = "## Other designs"
    shown = []
    left = tokens - count_tokens(title)
    for view in lenders:
        better = sum(r < view.rewards.get(task, r) for task, r in ours.rewards.items())
        mean = str(view.score) if view.score else f"{view.mean:.3f}"
        head = f"### {short(view.design.id)}: mean reward {mean}, better on {better} tasks"
        for text in (
            f"{head}\n\n{fenced(view.design.source, 'python')}",
            f"{head} (code left out)",
        ):
            if count_tokens(text) <= left:
                left -= count_tokens(text)
                shown.append(text)
                break
    return "\n\n".join([title, *shown]) if shown else ""
