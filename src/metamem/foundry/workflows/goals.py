"""What a workflow is for, in the words of those who asked for it, without their values."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from metamem.foundry.words import Use
from metamem.service.writing.clean import one_line

_WORDINGS = 3  # ways of asking that a goal shows
_LONGEST = 160


def served(prompts: Mapping[str, str], uses: Iterable[Use]) -> str:
    """The lines of the user that some uses serve."""
    names = {use.prompt for use in uses}
    return "\n".join(text for name, text in prompts.items() if name in names)


def heard(prompts: Mapping[str, str], uses: Iterable[Use]) -> str:
    """All that the user had said when the last of some uses was made."""
    order = list(prompts)
    last = max((order.index(use.prompt) for use in uses if use.prompt in prompts), default=-1)
    return "\n".join(prompts[name] for name in order[: last + 1])


def wording(prompt: str, values: Mapping[str, Any]) -> str:
    """A line of the user with its values named, not told."""
    text = one_line(prompt, _LONGEST)
    said = {
        str(item): name
        for name, value in sorted(values.items())
        for item in (value if isinstance(value, list) else [value])
        if isinstance(item, str | int | float) and not isinstance(item, bool) and str(item).strip()
    }
    if not said:
        return text
    # Longer values first: `load_rows` before `load`. One pass, so that no name is taken for a value.
    longest = sorted(said, key=lambda value: (-len(value), value))
    pattern = rf"(?<![^\W_])(?:{'|'.join(map(re.escape, longest))})(?![^\W_])"
    return re.sub(pattern, lambda match: f"<{said[match[0]]}>", text)


def goal_of(wordings: Sequence[str]) -> str:
    """The most usual ways of asking, the most usual first."""
    counted = Counter(text for text in wordings if text)
    usual = sorted(counted, key=lambda text: (-counted[text], len(text), text))
    return " / ".join(usual[:_WORDINGS])
