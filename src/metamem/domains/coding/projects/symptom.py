"""What a user sees of a fault, in a user's words: made from a failing call, not from the fault."""

import random

from metamem.domains.coding.projects.variant import Call, Outcome

_PHRASES = {
    "value": (
        "`{code}` gives {seen}, but it should give {wanted}.",
        "I get {seen} from `{code}`. I expected {wanted}.",
        "`{code}` returns {seen} where {wanted} would be right.",
    ),
    "error": (
        "`{code}` fails with {seen}.",
        "I call `{code}` and it stops with {seen}.",
        "Something is wrong here: `{code}` raises {seen}.",
    ),
    "accepted": (
        "`{code}` is accepted without complaint. It should raise {wanted}.",
        "No {wanted} from `{code}`, although the input makes no sense.",
        "I expected a {wanted} from `{code}`, and nothing happens.",
    ),
}


def tell(project: str, call: Call, seen: Outcome, wanted: Outcome, seed: int) -> str:
    """An issue as a user of the project would write it."""
    kind = "error" if seen.error else "accepted" if wanted.error else "value"
    phrase = random.Random(seed).choice(_PHRASES[kind])
    text = phrase.format(
        code=call.shown,
        seen=seen.error or repr(seen.value),
        wanted=wanted.error or repr(wanted.value),
    )
    if call.before:
        done = "\n".join(f"    {line}" for part in call.before for line in part.split("\n"))
        text = f"After\n{done}\n{text}"
    return f"{project}: {text}"
