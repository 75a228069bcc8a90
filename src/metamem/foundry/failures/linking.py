"""What resolved a failure: the later success of the same intent, and the steps that explain it.

How it came to work is one of four kinds (`explaining`). A success of anything else resolves nothing. Uses
that were begun at once are no answer to one another, and those of a sub-agent belong among themselves.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from metamem.foundry.failures.explaining import Explaining, Kind
from metamem.foundry.failures.hiding import may_have_worked
from metamem.foundry.failures.intent import Came, Intent, came
from metamem.foundry.failures.signature import Signature, signature
from metamem.foundry.words import Trace, Use

WINDOW = 25  # uses after a failure among which its resolution is looked for


@dataclass(frozen=True, slots=True)
class Attempt:
    """A use on the way from a failure to what became of it."""

    use: str
    came: Came


@dataclass(frozen=True, slots=True)
class Resolved:
    """A failure, and what resolved it."""

    use: Use
    signature: Signature
    kind: Kind
    by: Use  # the success
    steps: tuple[Use, ...]  # what explains it, in between
    trajectory: tuple[Attempt, ...]  # the attempts in between, the success last
    straight: bool = True  # nothing else failed on the way that the steps do not explain


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A failure that nothing resolved, as far as the trace goes."""

    use: Use
    signature: Signature
    trajectory: tuple[Attempt, ...] = ()


def link(trace: Trace) -> list[Resolved | Unresolved]:
    """Every failure of a trace, in its order, with what became of it."""
    by_agent: dict[str, list[Use]] = {}
    for use in trace.uses:
        by_agent.setdefault(use.agent, []).append(use)
    outcomes = {id(use): came(use) for use in trace.uses}
    found = {
        id(use): _became(use, uses[place + 1 : place + 1 + WINDOW], outcomes)
        for uses in by_agent.values()
        for place, use in enumerate(uses)
        if outcomes[id(use)] == "failed"
    }
    return [found[id(use)] for use in trace.uses if id(use) in found]


def _became(
    failed: Use, later: Sequence[Use], outcomes: Mapping[int, Came]
) -> Resolved | Unresolved:
    named, intent = signature(failed), Intent(failed)
    why = Explaining(intent)
    attempts: list[Attempt] = []
    between: list[Use] = []
    on_the_way: list[tuple[Explaining, list[Use]]] = []  # other failures, and what was done since
    for use in later:
        if use.group and use.group == failed.group:
            continue
        outcome = outcomes[id(use)]
        if not intent.is_of(use):
            if outcome == "worked" or (outcome == "unknown" and may_have_worked(use)):
                for done in (between, *(since for _, since in on_the_way)):
                    done.append(use)
            continue
        if outcome == "worked" and not intent.is_seen_in(use):
            outcome = "unknown"
        attempts.append(Attempt(use.id, outcome))
        if outcome != "worked":
            if outcome == "failed":
                on_the_way.append((Explaining(Intent(use)), []))
            continue
        before = [step for step in between if not step.group or step.group != use.group]
        resolved = why.how(use, before, on_the_way)
        if resolved is not None:
            kind, steps = resolved
            straight = all(
                signature(each.failed).id == named.id or any(map(each.explains, steps))
                for each, _ in on_the_way
            )
            return Resolved(failed, named, kind, use, steps, tuple(attempts), straight)
    return Unresolved(failed, named, tuple(attempts))
