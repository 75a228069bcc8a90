"""What lies in a request's folder to be read. Nothing in it is cut: what is long has its own file.

dossier.md             the parent and one's own last design: scores, evidence, what changed
parent.py, own.py      their code
tasks.md               the reward of every task
history.md             what was tried in this line, with whole notes
episodes/01-parent.txt how a task was played with the parent's advice
episodes/01-own.txt    the same task with the own last design's
"""

from collections.abc import Mapping, Sequence
from random import Random
from statistics import fmean

from metamem.core.ids import derive_seed, short
from metamem.evaluation.statistics import t_interval
from metamem.search.dossier import dossier
from metamem.search.episodes import tasks_to_show
from metamem.search.fitting import one_line
from metamem.search.proposer import Ancestor, ParentView, Request, ShownEpisode

STOPPED = (
    "(It was stopped while it did badly: its mean reward allows for that, this gain does not.)"
)
LISTED = 15  # tasks that got better, or worse, named in the dossier; tasks.md has all
COMPARED = 8  # tasks chosen for what the own last design did there, beside those of the parent

Shown = Mapping[str, ShownEpisode]  # by task


async def documents(request: Request, tokens: int) -> dict[str, str]:
    """Every text of a request but the manual and the skill, by file name."""
    if not request.parents:
        return {"dossier.md": dossier(request, tokens, lambda luck, room: "")}
    parent = request.parents[0]
    latest = request.latest
    own = latest if latest is not None and latest.design.id != parent.design.id else None
    tasks = _chosen(parent, own, Random(derive_seed("shown", request.seed)))
    theirs = {e.task_id: e for e in await parent.episodes(tasks)}
    ours = {e.task_id: e for e in await own.episodes(tasks)} if own else {}
    tasks = [task for task in tasks if task in theirs or task in ours]
    texts = {
        "parent.py": parent.design.source,
        "tasks.md": _tasks(parent, own),
        "history.md": _history(parent),
    }
    if own:
        texts["own.py"] = own.design.source
    index = f"{_index(tasks, theirs, ours)}\n\nAlso beside this file: {', '.join(texts)}."
    told = _latest(parent, own) if own else _same(latest)
    texts["dossier.md"] = dossier(request, tokens, lambda luck, room: index, told)
    for number, task in enumerate(tasks, 1):
        for name, shown in (("parent", theirs), ("own", ours)):
            if task in shown:
                texts[f"episodes/{number:02d}-{name}.txt"] = transcript(shown[task])
    return texts


def _chosen(parent: ParentView, own: ParentView | None, luck: Random) -> list[str]:
    if own is None:
        return tasks_to_show(parent, parent.before, luck)
    changed = tasks_to_show(own, parent.rewards, luck, COMPARED)
    return list(dict.fromkeys([*changed, *tasks_to_show(parent, own.rewards, luck)]))


# --- the own last design -------------------------------------------------------------------------


def _same(latest: ParentView | None) -> str:
    return "## Your last design\n\nIt is the parent above." if latest else ""


def _latest(parent: ParentView, own: ParentView) -> str:
    """What it made better and worse than the parent of this request."""
    both = [task for task in own.rewards if task in parent.rewards]
    gains = {task: own.rewards[task] - parent.rewards[task] for task in both}
    worse = sorted((t for t in both if gains[t] < 0), key=lambda t: (gains[t], t))
    better = sorted((t for t in both if gains[t] > 0), key=lambda t: (-gains[t], t))
    lines = [
        f"## Your last design {short(own.design.id)} (code: own.py)",
        "",
        f"Its mean reward: {own.score or f'{own.mean:.3f}'}.",
        f"Against the parent above: {_gain(list(gains.values()))}",
        *([STOPPED] if own.score and own.score.tasks < own.score.of else []),
        f"Better on {len(better)} tasks, worse on {len(worse)}, equal on"
        f" {len(both) - len(better) - len(worse)}.",
        "",
        "By kind (its reward; the parent's; the best of any other design), worst first:",
        "",
        *_kinds(parent, own, both),
    ]
    for title, tasks in (("Worse:", worse), ("Better:", better)):
        if tasks:
            lines += ["", title, "", *(_task(parent, own, task) for task in tasks[:LISTED])]
        if len(tasks) > LISTED:
            lines.append(f"- and {len(tasks) - LISTED} more: tasks.md has all")
    return "\n".join(lines)


def _gain(gains: Sequence[float]) -> str:
    if len(gains) < 2:
        return f"{len(gains)} tasks were played by both."
    low, high = t_interval(gains)
    return f"{fmean(gains):+.3f} ({low:+.3f} to {high:+.3f}) on the {len(gains)} tasks of both."


def _kinds(parent: ParentView, own: ParentView, tasks: Sequence[str]) -> list[str]:
    groups: dict[str, list[str]] = {}
    for task in tasks:
        groups.setdefault(own.kinds.get(task, ""), []).append(task)

    def mean(rewards: Mapping[str, float], kind: str) -> float:
        return fmean(rewards.get(task, 0.0) for task in groups[kind])

    return [
        f"- {one_line(kind) or 'all'}, {len(groups[kind])} tasks: {mean(own.rewards, kind):.2f};"
        f" {mean(parent.rewards, kind):.2f}; {mean(own.others, kind):.2f}"
        for kind in sorted(groups, key=lambda kind: (mean(own.rewards, kind), kind))
    ]


def _task(parent: ParentView, own: ParentView, task: str) -> str:
    kind = one_line(own.kinds.get(task, ""))
    named = f"{one_line(task)} ({kind})" if kind else one_line(task)
    return f"- {named}: {own.rewards[task]:.2f}, the parent {parent.rewards[task]:.2f}"


# --- the other documents -------------------------------------------------------------------------


def _tasks(parent: ParentView, own: ParentView | None) -> str:
    """Every task, those that the parent fails first."""
    columns: list[tuple[str, Mapping[str, float]]] = [("the parent", parent.rewards)]
    if own:
        columns.append(("your last design", own.rewards))
    columns += [("the parent's own parent", parent.before), ("best of any other", parent.others)]
    lines = [
        "# The reward of every task that the search plays (-: not played)",
        "",
        f"| task | kind | {' | '.join(name for name, _ in columns)} |",
        "|" + "---|" * (len(columns) + 2),
    ]
    for task in sorted(parent.kinds, key=lambda t: (parent.rewards.get(t, 2.0), t)):
        rewards = (f"{r[task]:.2f}" if task in r else "-" for _, r in columns)
        cells = [one_line(task), one_line(parent.kinds[task]), *rewards]
        lines.append(f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |")
    return "\n".join(lines) + "\n"


def _history(parent: ParentView) -> str:
    line = [*filter(None, [parent.origin]), *parent.lineage]
    parts = ["# How the parent came about, the newest change first", *map(_change, line)]
    if parent.children:
        parts += ["# What was made of it already, the newest first", *map(_change, parent.children)]
    if parent.fruitless:
        parts += ["# What came to nothing", *(f"- {note}" for note in parent.fruitless)]
    return "\n\n".join(parts) + "\n"


def _change(ancestor: Ancestor) -> str:
    gained = "a beginning" if ancestor.gain is None else f"gained {ancestor.gain:+.3f}"
    score = ancestor.score or f"{ancestor.mean:.3f}"
    return f"## {short(ancestor.id)}: {gained}, then {score}\n\n{ancestor.note.strip()}"


def _index(tasks: Sequence[str], theirs: Shown, ours: Shown) -> str:
    """What was played, and the files that have it whole."""
    if not tasks:
        return ""
    lines = [
        "## Episodes, whole, in files (what is failed or changed, of every kind, comes first)",
        "",
    ]
    for number, task in enumerate(tasks, 1):
        any_of = theirs.get(task) or ours[task]
        kind = f" ({one_line(any_of.kind)})" if any_of.kind else ""
        lines.append(f"- {one_line(task)}{kind}: {one_line(any_of.goal)}")
        for name, shown in (("own", ours), ("parent", theirs)):
            if task in shown:
                steps = len(shown[task].steps) - 1
                advised = "no advice" if not shown[task].advice.strip() else "with advice"
                lines.append(
                    f"  - episodes/{number:02d}-{name}.txt: reward {shown[task].reward:.2f},"
                    f" {steps} actions, {advised}"
                )
    return "\n".join(lines)


def transcript(episode: ShownEpisode, beside: str = "the best of other designs") -> str:
    """A whole episode: goal, advice, every step, and what could be done there.

    Of what could be done only the changes are told after the first time.
    """
    lines = [
        f"Task: {one_line(episode.task_id)}",
        f"Kind: {one_line(episode.kind) or '-'}",
        f"Goal: {episode.goal}",
        f"Reward: {episode.reward:.2f} ({beside}: {episode.best_other:.2f})",
        "",
        "=== Advice" if episode.advice.strip() else "=== No advice",
        *episode.advice.splitlines(),
        "",
        "=== What happened",
    ]
    before: tuple[str, ...] = ()
    for place, (action, observation) in enumerate(episode.steps):
        lines += ["", f"> {action}", observation] if action else [observation]
        now = episode.possible[place] if place < len(episode.possible) else ()
        lines += _possible(before, now, first=not place)
        before = now
    return "\n".join(lines) + "\n"


def _possible(before: Sequence[str], now: Sequence[str], first: bool) -> list[str]:
    if first:
        return [f"[possible: {' | '.join(now)}]"] if now else []
    new = [action for action in now if action not in before]
    gone = [action for action in before if action not in now]
    told = [f"[now possible: {' | '.join(new)}]"] if new else []
    return told + ([f"[no longer: {' | '.join(gone)}]"] if gone else [])
