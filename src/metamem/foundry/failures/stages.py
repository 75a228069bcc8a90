"""A shell's line in its stages: the programs that it runs, what each is given, and which of them it is for.

Scripts that an interpreter is given in the line itself, and what is piped or read into a program, belong to
the stage; where its output goes does not. What serves others (a change of folder, a filter, a listing) has
no weight of its own.
"""

import itertools
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import lru_cache

from metamem.foundry.workflows.shell import Token, tokens, unquoted
from metamem.service.importing.commands import LOOKS, Command, bare

ALIKE = 0.8  # of the words of two scripts that mean the same
SHORT, CLOSER = 60, 0.9  # words up to which a script is short, and how alike those must be


def several(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ASIDE = frozenset(
    ["cd", "export", "source", ".", "set", "echo", "printf", "sleep", "true", "pwd", "ulimit"]
)
_FILTERS = frozenset(
    ["tail", "head", "grep", "tee", "cat", "sort", "wc", "less", "sed", "awk", "jq", "cut", "tr"]
)
_SERVES = _ASIDE | _FILTERS | LOOKS | {"chmod", "chown", "clear", "date", "uniq", "nl", "xargs"}
# Of a thing they only tell what it is.
_INSPECTS = LOOKS | several(
    "chmod chown od xxd hexdump strings ldd nm objdump readelf md5sum sha1sum sha256sum du df ps pgrep pkill killall"
)
_SEARCHES = several("grep egrep fgrep rg ag diff cmp test [ [[")
_ASKS = several("which type command hash")  # whether something is there
_COMPILERS = several("cc gcc g++ c++ clang clang++")
_CONTROL = several("for while until case select done fi esac } ]] function")
_LEADS = several("do then else elif if while until ! { time")
_ASKED = several("if elif while until !")
_WRAPS = several("sudo env time nice nohup exec command doas stdbuf")
# They ask a program about something, and have it do nothing.
_ASKING = re.compile(
    r"-h|-V|--(?:help|version|list|dry-run|info|show|print|get|status|explain)[\w-]*"
)
_MANUALS = several("man info tldr")
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=")
_VALUED = re.compile(r"^(--[\w-]+)=.*|^(-[A-Za-z])\d+$", re.DOTALL)
_NUMBERED = re.compile(  # options that a number belongs to, also where it is a word of its own
    r"--(?:[\w-]*(?:workers|jobs|threads|processes|concurrency|parallel|timeout|retries|depth|limit|port|size|memory|count)"
    r"|(?:max|num)-[\w-]+)"
)
_LONG = re.compile(r"--[a-z][\w-]*")
_LOUDNESS = several("-q -qq --quiet --silent -v -vv -vvv --verbose --no-progress")
_INTERPRETERS = re.compile(r"(?:python|pypy)[\d.]*|node|ruby|perl|bash|sh|zsh|php|deno")
_INLINE = frozenset(["-c", "-e", "--eval", "-p", "-"])
_WORD = re.compile(r"\w+|[^\w\s]")
_RUNS = frozenset(["run", "exec", "tool", "compose", "x", "dlx"])
_PIPES = frozenset({"|", "|&"})
_ENDS = frozenset({"&&", "||", ";", ";;", "|", "|&", "&", "(", ")", "\n"})


@dataclass(frozen=True, slots=True)
class Stage:
    """One program of a line."""

    command: Command  # without what is put before it
    line: str  # as it was said, without where its output goes
    joined: str = ""  # the operator before it
    feed: str = ""  # what is piped or read into it
    script: str = ""  # that it is given in the line
    writes: tuple[str, ...] = ()
    aside: bool = False  # nobody waits for it
    piped: bool = False  # what it prints goes into another, and so its exit code is not seen
    asked: bool = False  # whether it works decides what is done then

    @property
    def program(self) -> str:
        return bare(self.command.program)

    @property
    def options(self) -> frozenset[str]:
        return frozenset(word for word in self.command.line.split() if word.startswith("-"))

    @property
    def inspects(self) -> bool:
        """Whether it only tells what something is."""
        return self.program in _INSPECTS

    def is_same(self, other: "Stage") -> bool:
        """Whether it does just what another does, however much it says meanwhile."""
        mine, theirs = ((_quieter(s.line), s.feed, s.script) for s in (self, other))
        return mine == theirs

    def does(self, wanted: "Stage") -> bool:
        """Whether it is meant to do what another was, in whatever way."""
        if self.aside and not wanted.aside:
            return False  # whether that worked shows later
        if wanted.script or self.script:
            same = _kind(self.program) == _kind(wanted.program)
            return same and means_same(self.script, wanted.script)
        if self.line == wanted.line or self.command.line == wanted.command.line:
            return True
        if self.inspects and not wanted.inspects:
            return False
        if self._tells_how(wanted):
            return True
        one, other = wanted.command, self.command
        if self._asks() is not wanted._asks() and not self._runs().isdisjoint(wanted._runs()):
            return False
        if not one.words and not any(way._means_bare(wanted) for way in self._ways(wanted)):
            return False
        return _akin(one, other) or other.means(one)

    def _ways(self, wanted: "Stage") -> tuple["Stage", ...]:
        """Itself, or what it runs where that is another program than the one that was wanted."""
        if self.program == wanted.program:
            return (self,)
        return tuple(
            replace(self, command=each) for each in (self.command.ran, self.command.called)
        )

    def _means_bare(self, wanted: "Stage") -> bool:
        """Where a program was given options alone, they are all it was to do."""
        mine, theirs = self._named_options(), wanted._named_options()
        of_options = self._values() if mine > theirs else frozenset()
        given = {bare(word) for word in self.command.words if word not in of_options} - _RUNS
        return given <= {wanted.program} and (
            self.program != wanted.program or mine <= theirs or mine >= theirs
        )

    def _named_options(self) -> frozenset[str]:
        """Without their values: `-j8` and `-j2` are one, and so are `--workers=1` and `--workers=4`. How much
        it is to say does not count."""
        said = self.options - _LOUDNESS
        return frozenset(_VALUED.sub(r"\1\2", option) for option in said)

    def _values(self) -> frozenset[str]:
        """The words that stand behind a long option: `1` in `--workers 1`."""
        words = self.command.line.split()
        return frozenset(
            word
            for option, word in itertools.pairwise(words)
            if _LONG.fullmatch(option) and not word.startswith("-")
        )

    def _tells_how(self, wanted: "Stage") -> bool:
        """Whether it is the manual of a program that was asked for its help."""
        asked = not wanted.options.isdisjoint(("-h", "--help"))
        return asked and self.program in _MANUALS and self.command.words[-1:] == (wanted.program,)

    def _runs(self) -> frozenset[str]:
        """The programs that are at work: its own, and those that it runs."""
        command = self.command
        return frozenset(bare(each.program) for each in (command, command.ran, command.called))

    def _asks(self) -> bool:
        return any(_ASKING.fullmatch(option) for option in self.options)


@dataclass(slots=True)
class _Draft:
    joined: str
    words: list[str] = field(default_factory=list)
    feed: str = ""
    body: str = ""
    writes: list[str] = field(default_factory=list)
    aside: bool = False


@lru_cache(maxsize=4096)
def stages(line: str) -> tuple[Stage, ...]:
    """The programs of a line, in their order."""
    drafts = [draft for draft in _drafts(line) if draft.words]
    found: list[Stage] = []
    feed = ""
    for draft, after in itertools.zip_longest(drafts, drafts[1:]):
        feed = f"{feed} | " if draft.joined in _PIPES else ""
        whole = " ".join(draft.words)
        piped = after is not None and after.joined in _PIPES
        stage = _stage(draft, f"{feed}{draft.feed}", piped)
        feed = f"{feed}{whole}"
        if stage is not None:
            found.append(stage)
    return tuple(found)


def weighty(line: str) -> tuple[Stage, ...]:
    """The stages that a line is for; those that serve others only where there are none."""
    found = stages(line)
    for serving in (_SERVES, _ASIDE | _FILTERS, _ASIDE, frozenset()):
        of_weight = tuple(stage for stage in found if stage.program not in serving)
        if of_weight:
            return of_weight
    return ()


def failing(line: str, telling: str) -> tuple[Stage, ...]:
    """The stages that must work for a line to have worked: the one that an error names, or all of weight."""
    names = {bare(part.split()[-1]) for part in telling.split(":")[:-1] if part.split()}
    named = tuple(stage for stage in stages(line) if stage.program in names)
    return named[:1] or weighty(line)


def finds_nothing(line: str, output: str) -> bool:
    """Whether the last program's exit code of 1 may only mean that something is not there."""
    last = stages(line)[-1:]
    return any(s.program in _ASKS or (s.program in _SEARCHES and not output.strip()) for s in last)


def means_same(one: str, other: str) -> bool:
    """Whether two scripts are the same but for some words; of short ones every word counts more."""
    mine, theirs = (Counter(_WORD.findall(text)) for text in (one, other))
    longer = max(mine.total(), theirs.total())
    least = CLOSER if longer <= SHORT else ALIKE
    return (mine & theirs).total() >= least * longer


def _stage(draft: _Draft, feed: str, piped: bool) -> Stage | None:
    words = list(draft.words)
    asked = False
    while words and (words[0] in _LEADS or words[0] == "("):
        asked = words.pop(0) in _ASKED or asked
    if not words or words[0] in _CONTROL:
        return None
    line = " ".join(words)
    words = _unwrapped(words)
    if not words:
        return None
    script = ""
    if _INTERPRETERS.fullmatch(bare(words[0])):
        inline = next((at for at, word in enumerate(words) if word in _INLINE), 0)
        given = words[inline + 1 : inline + 2] if inline and words[inline] != "-" else []
        script = "".join(given) or draft.body
    # What has spaces in it is said to somebody, and no target.
    said = tuple(
        word
        for before, word in itertools.pairwise(words)
        if word != script
        and not word.startswith("-")
        and " " not in word
        and not (word.isdigit() and _NUMBERED.fullmatch(before))
    )
    shown = line.replace(script, "…") if script else line
    return Stage(
        Command(" ".join(words) if not script else shown, words[0], said),
        shown,
        draft.joined,
        feed if not script else "",
        script,
        tuple(draft.writes),
        draft.aside,
        piped,
        asked,
    )


def _unwrapped(words: list[str]) -> list[str]:
    """Without what is put before a program."""
    while words:
        if _ASSIGNED.match(words[0]):
            words = words[1:]
        elif bare(words[0]) in _WRAPS and len(words) > 1:
            words = words[1:]
            while words and words[0].startswith("-"):
                words = words[2:] if words[0] in ("-n", "-u", "-o") else words[1:]
        elif bare(words[0]) == "timeout" and len(words) > 2:
            words = words[1:]
            while words and words[0].startswith("-"):
                words = words[2:] if words[0] in ("-s", "-k") else words[1:]
            words = words[1:]
        else:
            break
    return words


def _drafts(line: str) -> list[_Draft]:
    found = [_Draft("")]
    waiting: list[_Draft] = []  # for the body of a here-document
    pending = ""
    for token in (*tokens(line), Token("operator", ";")):
        now = found[-1]
        if token.kind == "word" and token.text.startswith("#") and not pending:
            continue  # the first word of a remark; the rest of it does no harm
        if token.kind == "word" and pending:
            _redirect(now, pending, unquoted(token.text), waiting)
            pending = ""
        elif token.kind == "word":
            now.words.append(unquoted(token.text))
        elif token.kind == "body":
            if waiting:
                waiting.pop(0).body = token.text
        elif token.kind == "operator" and token.text in _ENDS:
            now.aside = token.text == "&"
            found.append(_Draft(token.text))
        elif token.kind == "operator" and "&" not in token.text[1:]:
            pending = token.text
    return _with_operators(found)


def _with_operators(drafts: list[_Draft]) -> list[_Draft]:
    """Line breaks beside another operator say nothing."""
    found: list[_Draft] = []
    joined = ""
    for draft in drafts:
        joined = draft.joined if draft.joined not in ("\n", "") or not joined else joined
        if draft.words:
            draft.joined, joined = joined, ""
            found.append(draft)
    return found


def _redirect(draft: _Draft, sign: str, target: str, waiting: list[_Draft]) -> None:
    if "<<<" in sign:
        draft.feed = target
    elif "<<" in sign:
        waiting.append(draft)
    elif "<" in sign:
        draft.feed = f"< {target}"
    elif target != "/dev/null":
        draft.writes.append(target)


def _quieter(line: str) -> str:
    return " ".join(word for word in line.split() if word not in _LOUDNESS)


def _kind(program: str) -> str:
    return re.sub(r"[\d.]+$", "", program)


def _akin(one: Command, other: Command) -> bool:
    """The same words given to programs that do the same."""
    both = {bare(one.program), bare(other.program)}
    return one.words == other.words and any(both <= kin for kin in ({"source", "."}, _COMPILERS))
