"""From what a model wrote to the action it meant."""

import re
from collections.abc import Sequence

_FENCE = re.compile(r"```[\w-]*\n?(.*?)```", re.DOTALL)
_LABEL = re.compile(r"^\s*(?:>|[-*•]|(?:my |the |your )?(?:next )?action\s*[:=])\s*", re.IGNORECASE)
_LAST_LABEL = re.compile(r"(?:^|\n)\s*(?:\*\*)?action(?:\*\*)?\s*[:=]", re.IGNORECASE)
_NUMBER = re.compile(r"^\s*(\d{1,3})[.)]\s+")
_EDGE = " \t\r\n`'\"*_.<>[]"


def written(reply: str) -> str:
    """The action in a reply where the model writes it itself: unpacked, otherwise untouched."""
    text = _after_label(reply)
    if fenced := _FENCE.search(text):
        text = fenced[1]
    return _LABEL.sub("", text, count=1).strip()


def chosen(reply: str, actions: Sequence[str]) -> str:
    """The listed action that a reply names; else its first line, for the world to answer."""
    text = _after_label(reply)
    if fenced := _FENCE.search(text):
        text = fenced[1]
    lines = [line for line in text.splitlines() if line.strip()]
    by_form = {_form(action): action for action in reversed(actions)}
    for line in lines:
        bare = _LABEL.sub("", line)
        for candidate in (bare, _NUMBER.sub("", bare)):
            if found := by_form.get(_form(candidate)):
                return found
    for line in lines:
        named = [action for form, action in by_form.items() if _inside(form, _form(line))]
        if named:  # the longest: `go to desk 10` names `go to desk 1` too
            return max(named, key=len)
    return _LABEL.sub("", lines[0]).strip(_EDGE) if lines else ""


def _after_label(reply: str) -> str:
    """What follows the last `Action:`, where the model thought aloud before it."""
    labels = list(_LAST_LABEL.finditer(reply))
    return reply[labels[-1].end() :] if labels else reply


def _form(text: str) -> str:
    return " ".join(text.strip(_EDGE).lower().split())


def _inside(form: str, line: str) -> bool:
    return bool(form) and re.search(rf"(?<!\w){re.escape(form)}(?!\w)", line) is not None
