"""What it cost to carry out a workflow by hand: calls, tokens that went through the model, time."""

from collections.abc import Callable, Iterable

from metamem.core.tokens import count_tokens
from metamem.foundry.tools.store import Measured
from metamem.foundry.words import Occurrence, Trace, Use


def measured(
    occurrences: Iterable[Occurrence], trace_of: Callable[[str], Trace | None], *, held_out: bool
) -> list[Measured]:
    """Those whose session can still be read."""
    found = []
    for one in occurrences:
        trace = trace_of(one.session)
        if trace is not None:
            found.append(_measured(one, trace, held_out))
    return found


def tokens_of(use: Use) -> int:
    """Of what a call said and of what came back."""
    said = " ".join(str(value) for value in use.arguments.values())
    return count_tokens(said) + count_tokens(use.result or use.error)


def _measured(one: Occurrence, trace: Trace, held_out: bool) -> Measured:
    """All that was called from the first step to the last: whoever looks around or stumbles in between
    pays for that, too."""
    wanted = set(one.uses)
    places = [at for at, use in enumerate(trace.uses) if use.id in wanted]
    first = trace.uses[places[0]]
    span = [
        use
        for use in trace.uses[places[0] : places[-1] + 1]
        if (use.prompt, use.agent) == (first.prompt, first.agent)
    ]
    return Measured(
        one.session,
        first.id,
        held_out,
        len(span),
        sum(map(tokens_of, span)),
        sum(use.milliseconds or 0 for use in span),
    )
