"""What a line's ending well says of the programs in it.

The exit code is that of the last program. It says nothing of one whose failing was caught (`|| true`), whose
output went into another program (`| tail`), or after which others were run (`; echo done`). Of those nobody
knows whether they worked, unless the output shows it.
"""

import itertools
import re
from collections.abc import Sequence

from metamem.foundry.failures.shell import text_of
from metamem.foundry.failures.signature import tells_failure
from metamem.foundry.failures.stages import Stage, stages, weighty
from metamem.foundry.words import Use

_JOINS = frozenset({"&&", "||", "|", "|&"})
_PIPES = frozenset({"|", "|&"})
_SAYS = frozenset({"echo", "printf"})
_STOPS = frozenset({"exit", "return"})
_FLAGS = re.compile(r"\s[-+](?!o\b)[a-z]*e[a-z]*\b")
_CODE = re.compile(
    r"\$(?:\?|\{\?\}|\{?PIPESTATUS(?:\[0\])?\}?|\{?(?:rc|ret|status|code|exit_code)\}?)", re.I
)
_GOOD = re.compile(
    r"\bpass(?:ed|ing)\b|\bsuccess|\bsucceeded\b|^ok\b|\b(?:finished|completed|deployed|compiled|installed)\b|\badded \d+"
    r"|\bup[- ]to[- ]date\b|\balready satisfied\b|\b(?:no|0) (?:issues|errors|failures|problems)\b",
    re.IGNORECASE | re.MULTILINE,
)
_NONE = re.compile(
    r"\b(?:no|0|without) (?:\w+ )?(?:errors?|failed|failures?|warnings?)\b", re.IGNORECASE
)
_LITERAL = 3  # characters of what is said that can be looked for

Chain = Sequence[Sequence[Stage]]  # pipelines, joined by && and ||


def seen(use: Use) -> tuple[Stage, ...]:
    """The programs of a line that ended well of which that says that they worked."""
    line = text_of(use)
    given = [stage for stage in stages(line) if not _is_stop(stage)]
    chains = _chains(given)
    if not chains:
        return ()
    strict = _strict(given)
    shown = _shown_code(given, use.result)
    found: list[Stage] = []
    for place, chain in enumerate(chains):
        last = place == len(chains) - 1
        told = shown and place == len(chains) - 2  # `…; echo $?`
        if last or strict or told:
            found += _assured(chain, use.result, _pipefail(line) or told)
    return tuple(found)


def is_hidden(use: Use) -> bool:
    """Whether nobody knows whether what a line that ended well is for has worked."""
    wanted, known = weighty(text_of(use)), seen(use)
    # Of what nobody waits for, that it was begun is all there is to see.
    hidden = bool(wanted) and not any(stage.aside or stage in known for stage in wanted)
    return hidden and not shows_success(use)


def shows_success(use: Use) -> bool:
    """Whether what came back says that it went well, in words that the line itself did not give."""
    output = use.result
    for stage in stages(text_of(use)):
        if stage.program in _SAYS:
            for part in _parts(stage):
                output = output.replace(part, " ")
    return _GOOD.search(output) is not None and not _fails(output)


def may_have_worked(use: Use) -> bool:
    """Whether a use of a shell that nobody knows the end of shows no failure."""
    return use.failed is False and use.exit_code in (0, None) and not _fails(use.result)


def _fails(output: str) -> bool:
    return tells_failure(_NONE.sub(" ", output))


def _chains(given: Sequence[Stage]) -> list[list[list[Stage]]]:
    """Lists of pipelines of stages, one after the other."""
    found: list[list[list[Stage]]] = []
    for stage in given:
        if not found or stage.joined not in _JOINS:
            found.append([[stage]])
        elif stage.joined in _PIPES:
            found[-1][-1].append(stage)
        else:
            found[-1].append([stage])
    return found


def _assured(chain: Chain, output: str, whole: bool) -> list[Stage]:
    """Those that must have worked where a chain did. `whole`: a pipeline fails with any of its programs."""
    found: list[Stage] = []
    for pipeline in chain:
        fallback = pipeline[0].joined == "||"
        if fallback and not _cannot_have_run(pipeline, output):
            same = [one for one in found if any(stage.does(one) for stage in pipeline)]
            found = [*same, *pipeline[-1:]] if same else []
        elif not fallback:
            found += pipeline if whole else pipeline[-1:]
    return [stage for stage in found if not stage.asked and not stage.aside]


def _cannot_have_run(pipeline: Sequence[Stage], output: str) -> bool:
    """Whether what is done where something failed shows that it did not: it would have failed, too, or said so."""
    stage = pipeline[-1]
    if stage.program == "false":
        return True
    parts = _parts(stage) if stage.program in _SAYS else []
    return bool(parts) and not all(part in output for part in parts)


def _parts(stage: Stage) -> list[str]:
    """What a program says by itself, without what the shell puts into it."""
    words = itertools.dropwhile(lambda word: word.startswith("-"), stage.line.split()[1:])
    text = re.split(r"\$[\w?{(][\w?}\[\])]*|\\n|%\w", " ".join(words))
    return [part for each in text if len(part := each.strip()) >= _LITERAL]


def _is_stop(stage: Stage) -> bool:
    """An end with a code of its own was not come to, or tells that of what was before."""
    return stage.program in _STOPS and stage.command.words[:1] != ("0",)


def _strict(given: Sequence[Stage]) -> bool:
    """Whether a line ends where something fails."""
    flags = [_FLAGS.search(stage.line) for stage in given if stage.program == "set"]
    last = next((flag[0].strip() for flag in reversed(flags) if flag), "+")
    return last.startswith("-")


def _pipefail(line: str) -> bool:
    return re.search(r"\bset -\w*o pipefail\b|-o pipefail\b", line) is not None


def _shown_code(given: Sequence[Stage], output: str) -> bool:
    """Whether the line says with what code it ended, and that is none of a failure."""
    last = given[-1] if given else None
    if last is None or last.program not in _SAYS or not _CODE.search(last.line):
        return False
    words = list(itertools.dropwhile(lambda word: word.startswith("-"), last.line.split()[1:]))
    before, after = (re.escape(part) for part in _CODE.split(" ".join(words), maxsplit=1))
    codes = re.findall(rf"(?m)^{before}(\d{{1,3}}){'' if '$' in after else after}", output)
    return codes[-1:] == ["0"]
