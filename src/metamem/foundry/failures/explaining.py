"""Why a call that had failed works: what was changed about it, or what was done in between.

- *changed*: other arguments, another program, other options, something else fed into it, another script.
- *step*: the very same, after something that the error names was installed, made or edited.
- *repair*: after what it works on was edited or made anew, or after many steps. That is ordinary work, kept as
  such.
- *again*: the very same, and nothing in between explains it. Nobody learns anything of it.
"""

import itertools
import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import Literal

from metamem.core.ids import canonical_json
from metamem.foundry.failures.intent import Intent, same_call
from metamem.foundry.failures.remedies import has_remedy, remedied
from metamem.foundry.failures.shell import (
    folder_of,
    is_check,
    line_of,
    main_command,
    named,
    only_looks,
    writes_files,
    writes_in,
)
from metamem.foundry.failures.signature import is_stopped, said
from metamem.foundry.failures.stages import Stage, several, stages, weighty
from metamem.foundry.words import Use
from metamem.service.importing.commands import bare, is_edit, is_shell, says_what_is_wrong

Kind = Literal["changed", "step", "repair", "again"]

STEPS = 3  # that a resolution holds at most; more of them are no lesson

# Numbers of tests that failed, or a type checker's findings: the check itself ran.
_RAN = re.compile(
    r"\b\d+ (?:failed|failures?|failing|errors?)\b|\bFAILED\b|--- FAIL|AssertionError|assert\b|^\S+:\d+(?::\d+)?: "
    r"|^[<>] |^[+-]{3} |\bdiffer\b|^\S+\(\d+,\d+\): ",
    re.M,
)
_MAKES = re.compile(
    r"\b(?:install|add|ci|sync|restore|init|mkdir|touch|login|auth|up|start|build|migrate|chmod|chown|export|venv|pull"
    r"|fetch|clone|checkout|config|create|enable|upgrade)\b|\bgo get\b"
)
# Something that a check needs is not there: it could not check.
_LACKS = re.compile(
    r"no required module|stubs not installed|unresolved import|cannot find (?:crate|package|module)"
    r"|could not (?:resolve|find) \S*(?:module|package|import)",
    re.IGNORECASE,
)
_NOT_THERE = re.compile(
    r"no such file|enoent|not found|could not find|cannot find|no rule to make|not a git repository|missing script"
    r"|does not exist|no configuration|no \S+ (?:file )?found|unable to find",
    re.IGNORECASE,
)
# Verbs that make ready whatever a project lists, and what they may be given for that.
_READIES = re.compile(r"install|ci|sync|restore|init|up|build|migrate|login|bootstrap|setup|deps")
_LISTED = re.compile(r"\.|[\w./-]*(?:requirements[\w-]*\.txt|pyproject\.toml|package\.json)")
_ENTERS = several("source . conda mamba workon")
# They say something and do nothing.
_SAYS = re.compile(r"(?:^|_)(?:think|thought|plan|todo|note|reason|calculate)", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.])\d{1,9}(?![\w.])")
_NAMES = re.compile(r"[A-Za-z_][\w.@/+-]{2,}")
_PATHS = re.compile(r"[\w./~-]*\w\.[A-Za-z]\w{0,5}\b")
_LIBRARY = re.compile(r"^(?:lib|py)(?=[a-z]{3})")  # how packages are called after what they hold
_PART = 4  # letters of a name that may be a part of another: `yaml` in `pyyaml`
_COMMON = several(
    "error errno module named file directory such not found name defined command line none from import cannot could"
    " failed fatal the and for with has have was are this that does exist exists unknown option argument arguments"
    " exit code http traceback most recent call last type value permission denied connection refused bash python"
    " python3 node usr bin tmp home timed out killed timeout after been seconds library environment your but you"
    " requires required missing invalid please install installed package json txt html get add provides"
)


class Explaining:
    """What a failure was about, to hold later calls against."""

    def __init__(self, intent: Intent) -> None:
        self.failed = failed = intent.failed
        self._shell = is_shell(failed.tool)
        self._stopped = is_stopped(intent.telling)
        self._telling = intent.telling
        self._lacks = _LACKS.search(intent.telling) is not None
        self._missing = self._lacks or bool(intent.missing) or says_what_is_wrong(intent.telling)
        self._wanted = intent.wanted
        own = set() if self._missing else {_plainly(stage.program) for stage in self._wanted}
        programs = {_plainly(one.command.ran.program) for one in intent.missing}
        self._names = (_named(intent.telling) - own) | programs
        found = is_check(failed) and _RAN.search(said(failed)) is not None
        self._ran = found and not intent.missing  # what is not there has found nothing
        text = f"{line_of(failed)}\n{said(failed)}"
        self._files = {bare(path).lower() for path in _PATHS.findall(text[-20_000:])}
        given = (word for stage in self._wanted for word in (stage.program, *stage.command.words))
        self._stems = {stem for word in given if len(stem := _stem(word)) > 2}

    def how(
        self, worked: Use, between: Sequence[Use], later: Sequence["Later"] = ()
    ) -> tuple[Kind, tuple[Use, ...]] | None:
        """How a later call came to work; None where it may have left out what fails. `later` are the
        failures of the same intent in between: what explains them belongs to it."""
        edits = tuple(use for use in between if edits_files(use))
        if self._ran:  # other options that pass leave out what fails; only edits repair it
            edits = edits or ((worked,) if self._edits_in_line(worked) else ())
            if edits:
                return "repair", edits
            if not self._could_not_check() or not self._same(worked):
                return None
            steps = self._steps(between, later)
            if 0 < len(steps) <= STEPS:
                return "step", steps
            return ("changed", ()) if not steps and self._ready_in_line(worked) else None
        steps = self._with_places(worked, self._steps(between, later), between)
        if len(steps) > STEPS:
            return "repair", steps
        touching = tuple(use for use in edits if self._touches(use))
        remade = not self._missing and self._makes_anew(worked)
        if remade:
            touching = touching or edits or (worked,)
        if not self._same(worked):
            ordinary = touching and not steps and not self._other_program(worked)
            return ("repair", touching) if ordinary else ("changed", steps)
        if steps:
            return "step", steps
        if not touching and (self._in_line(worked) or self._elsewhere(worked)):
            return "changed", ()
        if self._stopped:  # what takes long may be quicker another time
            edits = touching
        edits = touching or edits or tuple(use for use in between if self._makes_anew(use))
        if not edits and self._shell and edits_files(worked):
            edits = (worked,)
        return ("repair", edits) if edits else ("again", ())

    def _could_not_check(self) -> bool:
        """Whether a check failed because something that it needs was not there."""
        return self._missing or has_remedy(self._telling)

    def _elsewhere(self, worked: Use) -> bool:
        """Whether what was not there was found in a folder that the line that worked went to."""
        folder = folder_of(worked)
        return (
            bool(folder)
            and folder != folder_of(self.failed)
            and (_NOT_THERE.search(self._telling) is not None)
        )

    def _steps(self, between: Sequence[Use], later: Sequence["Later"]) -> tuple[Use, ...]:
        """What explains this failure, and those that came between; what was then made ready in the same
        way goes with it, since nobody knows without which of them it would have failed."""
        own = {id(use) for use in between if self.explains(use)}
        if not own:
            return ()
        for other, since in later:
            own |= {id(use) for use in since if other.explains(use)}
        ways: set[str] = set()
        found = []
        for use in between:
            way = _way(use)
            if id(use) in own or (way and way in ways):
                found.append(use)
                ways.add(way)
        return tuple(found)

    def _with_places(
        self, worked: Use, steps: tuple[Use, ...], between: Sequence[Use]
    ) -> tuple[Use, ...]:
        """Steps, with those that made the folders of programs that are now run: `python -m venv .venv` for
        `.venv/bin/pip`."""
        places = _places((worked, *steps)) - _places((self.failed,))
        return tuple(use for use in between if use in steps or _makes_one_of(use, places))

    def _same(self, worked: Use) -> bool:
        """The same call, or the same command among other stages of a line: nothing about it changed."""
        if same_call(self.failed, worked) or self._gave_no_more(worked):
            return True
        given = stages(line_of(worked)) if self._shell else ()
        return bool(self._wanted) and all(
            any(stage.is_same(one) for stage in given) for one in self._wanted
        )

    def _gave_no_more(self, worked: Use) -> bool:
        """Whether nothing but numbers differ and none of them grew: that did not make it quicker."""
        lines = [line_of(use) for use in (self.failed, worked)]
        before, after = ([int(n) for n in _NUMBER.findall(line)] for line in lines)
        same = _NUMBER.sub("#", lines[0]) == _NUMBER.sub("#", lines[1]) != ""
        return self._stopped and same and all(a <= b for b, a in zip(before, after, strict=True))

    def _other_program(self, worked: Use) -> bool:
        programs = {stage.program for stage in stages(line_of(worked))} if self._shell else set()
        return any(stage.program not in programs for stage in self._wanted)

    def _in_line(self, worked: Use) -> bool:
        """Whether the line that worked does something else before."""
        if not self._shell or self._gave_no_more(worked):
            return False
        weight = {stage.line for stage in weighty(line_of(worked))}
        return any(stage.line in weight or self._prepares(stage) for stage in self._before(worked))

    def _ready_in_line(self, worked: Use) -> bool:
        """Whether the line that worked deals before with what a check needs."""
        return any(
            self._prepares(stage)
            or (_MAKES.search(stage.command.line) and _holds(stage.line, self._names))
            for stage in self._before(worked)
        )

    def _before(self, worked: Use) -> list[Stage]:
        """What the line that worked does before that the failed one did not."""
        known = {stage.line for stage in stages(line_of(self.failed))}
        before = itertools.takewhile(
            lambda stage: not any(stage.is_same(one) for one in self._wanted),
            stages(line_of(worked)),
        )
        return [stage for stage in before if stage.line not in known]

    def _prepares(self, stage: Stage) -> bool:
        """Whether it enters an environment where a program was missing, or sets what an error names."""
        if stage.program in _ENTERS:
            return self._missing
        return stage.program == "export" and _holds(stage.line, self._names)

    def _edits_in_line(self, worked: Use) -> bool:
        """Whether the line that worked changes before a file that the failed call speaks of."""
        return any(
            writes_in(stage) and not self._files.isdisjoint(_speaks_of(stage))
            for stage in stages(line_of(worked))
            if not any(stage.does(one) for one in self._wanted)
        )

    def explains(self, step: Use) -> bool:
        """Whether a step dealt with what the error names, or made something that a command needs."""
        done = _done(step)
        if is_shell(step.tool):
            if any(remedied(self._telling, each) for each in _each(step)):
                return True
            makes = _MAKES.search(done) is not None
            if only_looks(step) and not makes:
                return False
            readies = any(map(self._readies, weighty(line_of(step))))
            return readies or ((makes or edits_files(step)) and _holds(done, self._names))
        if _SAYS.search(step.tool):
            return False
        return _holds(done, self._names) and (edits_files(step) or not self._shell)

    def _readies(self, stage: Stage) -> bool:
        """Whether a command makes ready whatever a project lists, where something is missing."""
        verb, *rest = (*stage.command.words, "")
        rest = [word for word in rest if word]
        known = _READIES.fullmatch(verb) is not None and all(map(_LISTED.fullmatch, rest))
        return self._missing and known

    def _touches(self, edit: Use) -> bool:
        """Whether an edit is of a file that the failed call or its error speaks of, or in a folder that is
        called as what failed."""
        paths = _written(edit)
        folders = {part for path in paths for part in path.split("/")[:-1]}
        return not (self._files.isdisjoint(map(bare, paths)) and self._stems.isdisjoint(folders))

    def _makes_anew(self, use: Use) -> bool:
        """Whether a command that does more than look was about what the failed one works on."""
        if not is_shell(use.tool) or only_looks(use):
            return False
        own = [
            stage
            for stage in weighty(line_of(use))
            if not stage.inspects and not any(stage.does(one) for one in self._wanted)
        ]
        given = {_stem(word) for stage in own for word in (*stage.command.words, *stage.writes)}
        return not self._stems.isdisjoint(given)


Later = tuple[Explaining, Sequence[Use]]  # another failure on the way, and what was done after it


def edits_files(use: Use) -> bool:
    if is_shell(use.tool):
        return writes_files(use)
    return is_edit(use.tool) and "todo" not in use.tool.lower()


def _done(step: Use) -> str:
    """What a use did, without what it wrote."""
    line = line_of(step)
    if not line:
        return canonical_json(_plain(step))
    return " ; ".join(" ".join((stage.line, *stage.writes)) for stage in stages(line))


def _each(step: Use) -> list[str]:
    """The commands of a line, without what is put before them."""
    return [stage.command.line for stage in stages(line_of(step))]


def _speaks_of(stage: Stage) -> set[str]:
    return {bare(word).lower() for word in (*stage.command.words, *stage.writes)}


def _places(uses: Iterable[Use]) -> set[str]:
    """The folders, and those above them, of programs that are run by a path."""
    programs = {stage.command.program for use in uses for stage in stages(line_of(use))}
    return {str(folder) for each in programs for folder in PurePosixPath(each).parents} - {".", "/"}


def _makes_one_of(step: Use, places: set[str]) -> bool:
    """Whether a command makes one of these folders."""
    return any(
        _MAKES.search(stage.command.line) and place in places
        for stage in stages(line_of(step))
        if not stage.inspects
        for place in (str(PurePosixPath(word)) for word in stage.command.words)
    )


def _way(step: Use) -> str:
    """In which way a command makes something ready: `pip install`; empty where it does not."""
    command = main_command(line_of(step))
    return named(command) if command is not None and _MAKES.search(named(command)) else ""


def _written(edit: Use) -> set[str]:
    """The paths of files that an edit speaks of before it says what is to stand in them."""
    line = line_of(edit)
    if line:
        found = [word for stage in stages(line) for word in (*stage.command.words, *stage.writes)]
    else:
        found = [value for value in edit.arguments.values() if isinstance(value, str)]
    return {path.lower() for text in found if len(text) <= 300 for path in _PATHS.findall(text)}


def _named(telling: str) -> frozenset[str]:
    """The names that the telling line holds, and the last parts of those that are paths or dotted."""
    parts = {
        part for word in _NAMES.findall(telling) for part in (word, *re.split(r"[/.]", word)[-2:])
    }
    return frozenset(p for part in parts if len(p := _plainly(part)) > 2 and p not in _COMMON)


def _holds(text: str, names: frozenset[str]) -> bool:
    """Whether a text has one of these names, as a word or a good part of one."""
    given = {_plainly(word) for word in _NAMES.findall(text)}
    given |= {part for word in given for part in re.split(r"[/.@+-]", word)}
    given |= {_LIBRARY.sub("", word) for word in given}
    return any(
        name in given or (len(name) >= _PART and any(name in word for word in given))
        for name in names
    )


def _plainly(word: str) -> str:
    return word.lower().replace("_", "-").strip("-.")


def _stem(word: str) -> str:
    return bare(word).split(".", 1)[0].lower()


def _plain(use: Use) -> dict[str, str]:
    return {str(name): str(value) for name, value in use.arguments.items()}
