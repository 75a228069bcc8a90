"""What has to be done again for a case: everything before it that left something behind, and its own uses.

Whether a use can be redone hangs on the record alone, never on a tool that is judged.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metamem.core.secrets import INSTEAD
from metamem.foundry.tools.operations import Code, NotATool, Operation, OverNetwork, operations
from metamem.foundry.tools.origin import NotReplayable, Origin
from metamem.foundry.tools.programs import checked_command
from metamem.foundry.tools.quoting import safe
from metamem.foundry.tools.tool import Case
from metamem.foundry.words import Snapshot, Trace, Use
from metamem.foundry.workflows.shape import shape
from metamem.service.importing.claude import HOST as CLAUDE

MOST_USES = 400  # before a case
# They ask, search or hand over to another agent, whose own uses are recorded; no tree is changed by them.
_ELSEWHERE = (
    *(
        "WebSearch",
        "WebFetch",
        "web_search",
        "web_fetch",
        "google_web_search",
        "webfetch",
        "websearch",
    ),
    *("Task", "Agent", "task", "Skill", "SlashCommand", "AskUserQuestion", "EnterPlanMode"),
    *("ToolSearch", "view_image"),
)
_ANY_FAILURE = -1
Action = Mapping[str, Any]  # a use, as `stage.py` reads it


OVER_NETWORK = "it has steps over the network"


@dataclass(frozen=True, slots=True)
class Redoing:
    before: tuple[Action, ...]  # gives the state that the case began with
    own: tuple[Action, ...]  # the case as it was recorded, with what was done in between
    others: tuple[Action, ...]  # what was done in between and worked, but is none of its steps


def redoing(case: Case, origin: Origin) -> Redoing:
    """`NotReplayable` where something cannot be done again."""
    places = {use.id: at for at, use in enumerate(case.trace.uses)}
    wanted = [places[name] for name in case.occurrence.uses if name in places]
    if len(wanted) < len(case.occurrence.uses) or not wanted:
        raise NotReplayable("the session does not hold these uses any more")
    first, last = min(wanted), max(wanted)
    keeps = case.trace.host == CLAUDE
    before = [
        action
        for use in case.trace.uses[:first]
        if not only_looks(use)
        for action in _redone(use, origin, keeps, outside_too=True)
    ]
    if len(before) > MOST_USES:
        raise NotReplayable(f"more than {MOST_USES} uses come before it")
    own: list[Action] = []
    others: list[Action] = []
    for at in range(first, last + 1):
        use = case.trace.uses[at]
        if only_looks(use) and not (at in wanted and use.failed):
            continue
        for action in _redone(use, origin, keeps, outside_too=False):
            own.append(action)
            if at not in wanted and not use.failed:
                others.append(action)
    if not own:
        raise NotReplayable("nothing is changed by it")
    return Redoing(tuple(before), tuple(own), tuple(others))


def begun(trace: Trace) -> Snapshot:
    """The tree that a session began with; `NotReplayable` where it was not kept, not all of it or too late."""
    if trace.snapshot is None:
        raise NotReplayable("nobody knows what tree the session began with")
    if trace.snapshot.late:
        raise NotReplayable("the tree was looked at when tools had already been used")
    if not trace.snapshot.whole:
        raise NotReplayable("a part of the tree that the session began with was left out")
    return trace.snapshot


def hindrance(case: Case) -> str:
    """Why a case cannot be replayed, as far as its record alone tells; empty where it may be."""
    wanted = set(case.occurrence.uses)
    places = [at for at, use in enumerate(case.trace.uses) if use.id in wanted]
    try:
        begun(case.trace)
        for use in case.trace.uses[: max(places, default=-1) + 1]:
            if not only_looks(use):
                _recorded(use)
                if _over_network(use):
                    return OVER_NETWORK
    except NotReplayable as no:
        return str(no)
    return ""


def only_looks(use: Use) -> bool:
    """Whether it is known for certain, or for tools of other makers by their names, that nothing changed."""
    try:
        done = operations(use.tool, use.arguments, Code())
    except NotATool:
        return use.tool in _ELSEWHERE or (not _is_shell(use) and shape(use).looks)
    return all(op.kind == "read" or (op.kind == "shell" and _looks(op.text)) for op in done)


def _is_shell(use: Use) -> bool:
    return "command" in use.arguments or "cmd" in use.arguments


def _looks(command: str) -> bool:
    code = Code()
    try:
        return all(checked_command(one, code).looks for one in safe(command, code).commands)
    except NotATool:
        return False


def _over_network(use: Use) -> bool:
    code = Code()
    try:
        done = operations(use.tool, use.arguments, code)
        commands = [c for op in done if op.kind == "shell" for c in safe(op.text, code).commands]
    except NotATool:
        return False  # nobody can tell
    for one in commands:
        try:
            checked_command(one, code)
        except OverNetwork:
            return True
        except NotATool:
            continue
    return False


def _recorded(use: Use) -> Sequence[Operation]:
    """What a use did, if it can be done again as it was."""
    if use.redacted or INSTEAD.search(str(use.arguments)):
        raise NotReplayable("something secret was taken out of a recorded call")
    try:
        return operations(use.tool, use.arguments, Code())
    except NotATool as error:
        raise NotReplayable(str(error)) from error


def _redone(use: Use, origin: Origin, keeps: bool, *, outside_too: bool) -> Iterable[Action]:
    """A use as an action; none where all of it lies outside of the tree and may."""
    does = []
    for op in _recorded(use):
        path = _within(op.path, origin) if op.path else None
        if op.kind == "read":
            continue
        if op.path and path is None:
            if op.kind == "shell" or not outside_too:
                raise NotReplayable("it works on something outside of the tree")
            continue
        does.append(_action(op, path))
    if does:
        own_shell = keeps and not use.agent
        yield {"does": does, "ends": _ends(use), "keeps": own_shell}


def _action(op: Operation, path: str | None) -> dict[str, Any]:
    return {
        "kind": op.kind,
        "path": path,
        "text": op.text,
        "new": op.new,
        "everywhere": op.everywhere,
    }


def _within(path: str, origin: Origin) -> str | None:
    """A path from the root of the tree; None where it lies elsewhere."""
    if path.startswith("~"):
        return None
    whole = os.path.normpath(Path(origin.seen, origin.within, path))
    for root in (origin.seen, str(origin.root)):
        found = os.path.relpath(whole, root)
        if found != ".." and not found.startswith("../"):
            return found
    return None


def _ends(use: Use) -> int:
    """The exit code that it must have. What nobody says worked."""
    if use.exit_code is not None and use.exit_code >= 0:
        return use.exit_code
    return _ANY_FAILURE if use.failed else 0
