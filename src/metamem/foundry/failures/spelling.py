"""Whether a word of a command that an error does not know was put right: `make tests` by `make test`.

The error must name the word and say that there is no such thing; a status of 404 says so of the one address that
was asked for. What stands in its place is another spelling of it, or what the error itself offers; all else of
the command is the same.
"""

import re
from difflib import SequenceMatcher

from metamem.foundry.failures.stages import Stage
from metamem.foundry.failures.status import told_status
from metamem.service.importing.commands import says_what_is_wrong

NEAR = 0.7  # of a part of a word that is spelled otherwise
LEAST = 3  # letters of such a part: of shorter ones any two are alike
_UNKNOWN = re.compile(
    r"not found|did not match|does not exist|doesn't exist|no such|unknown|unrecogni[sz]ed|not a valid",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"['\"]?https?://", re.IGNORECASE)
NOT_FOUND = 404
_OFFERS = re.compile(r"did you mean|similar|you meant|perhaps", re.IGNORECASE)
_PARTS = re.compile(r"[^\W_]+")
_EDGES = "'\"`.,:;()[]{}<>"


def puts_right(stage: Stage, wanted: Stage, telling: str, output: str) -> bool:
    """Whether a later command is a failed one but for one word that its error does not know."""
    if stage.script or wanted.script or stage.program != wanted.program:
        return False
    before, after = wanted.command.line.split(), stage.command.line.split()
    changed = [(a, b) for a, b in zip(before, after, strict=False) if a != b]
    if len(before) != len(after) or len(changed) != 1 or changed[0][0].startswith("-"):
        return False
    wrong, right = changed[0]
    if not _is_unknown(wrong, telling):
        return False
    offer = _OFFERS.search(output)
    offered = offer is not None and right in _words(output[offer.end() :])
    return offered or _respelled(wrong, right)


def _is_unknown(word: str, telling: str) -> bool:
    """Whether an error says that there is no such thing."""
    if _ADDRESS.match(word) and told_status(telling) == NOT_FOUND:
        return True
    says = says_what_is_wrong(telling) or _UNKNOWN.search(telling) is not None
    return says and word in _words(telling)


def _words(text: str) -> set[str]:
    return {word.strip(_EDGES) for word in text.split()}


def _respelled(wrong: str, right: str) -> bool:
    """Whether two words differ in their signs, or in one part that is spelled otherwise."""
    parts = _PARTS.findall(wrong), _PARTS.findall(right)
    if len(parts[0]) != len(parts[1]):
        return "".join(parts[0]) == "".join(parts[1])
    changed = [(a, b) for a, b in zip(*parts, strict=True) if a != b]
    return not changed or (
        len(changed) == 1
        and min(map(len, changed[0])) >= LEAST
        and not any(part[-1].isdigit() for part in changed[0])
        and SequenceMatcher(None, *changed[0], autojunk=False).ratio() >= NEAR
    )
