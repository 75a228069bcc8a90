"""Shell texts with holes, made safe: every hole becomes a quoted variable, whatever stands around it.

The text is read as a shell reads it. What is not read here for certain (keywords, background, backticks,
variables of the environment, arithmetic, braces) is refused, so that nothing is guessed about what a command
does. What a shell would compute (`$(…)`, a variable that the text set) stands in a word as a sign of its own.
"""

import re
from dataclasses import dataclass, field

from metamem.foundry.tools.operations import COMPUTED, LOOSE, Code, NotATool, is_hole

_KEYWORDS = {"if", "then", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "in",
             "function", "select", "time", "!", "{", "}", "[[", "]]"}  # fmt: skip
_REDIRECT = re.compile(r"(?:[012]?>&[12])|&>>?|[012]?>>?|<(?!<)")
_NAME = re.compile(r"\$([A-Za-z_]\w*)|\$\{([A-Za-z_]\w*)\}")


@dataclass(slots=True)
class Command:
    """One program with its words, unquoted; holes are the signs of their code."""

    words: list[str] = field(default_factory=list)
    redirects: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Read:
    """A text for the shell in which values stand in variables, and the commands that it is made of."""

    text: str
    commands: tuple[Command, ...]
    bare: frozenset[str]  # holes that stood outside of quotes: they are one word


def safe(coded: str, code: Code) -> Read:
    """The shell text of a coded command."""
    reader = _Reader(coded, code)
    reader.script("")
    return Read("".join(reader.out), tuple(reader.commands), frozenset(reader.bare))


class _Reader:
    def __init__(self, given: str, code: Code) -> None:
        self.given, self.code, self.at = given, code, 0
        self.out: list[str] = []
        self.commands: list[Command] = []
        self.bare: set[str] = set()
        self.set_here: set[str] = set()  # variables that the text itself gave a value
        # Of here-documents that come after this line: the end, as it is or to be filled in, after tabs.
        self.bodies: list[tuple[str, bool, bool]] = []

    def script(self, end: str) -> None:
        """Commands up to the end of the text, or to the bracket that ends a substitution."""
        command = Command()
        while self.at < len(self.given):
            sign = self.given[self.at]
            if sign == end:
                break
            if sign in " \t" or self.given.startswith("\\\n", self.at):
                self._copy(2 if sign == "\\" else 1)
            elif sign in ";\n|" or self.given.startswith("&&", self.at):
                both = self.given[self.at : self.at + 2] in ("&&", "||")
                self._copy(2 if both else 1)
                self._close(command)
                command = Command()
                if sign == "\n":
                    self._here_documents()
            elif sign == "#" and (self.at == 0 or self.given[self.at - 1] in " \t\n;"):
                stop = self.given.find("\n", self.at)
                self.at = len(self.given) if stop < 0 else stop
            elif self.given.startswith("<<", self.at) and not self.given.startswith("<<<", self.at):
                self._here_begins()
            elif match := _REDIRECT.match(self.given, self.at):
                self._copy(len(match[0]))
                if "&" in match[0] and not match[0].startswith("&"):
                    continue
                while self.given[self.at : self.at + 1] == " ":
                    self._copy(1)
                target = self._word(end)
                if not target:
                    raise NotATool("a redirection that is not read here")
                command.redirects.append((match[0], target))
            elif sign in "&()`<>":
                raise NotATool(f"a command with {sign!r} is not read here")
            else:
                command.words.append(self._word(end))
        self._close(command)

    def _close(self, command: Command) -> None:
        if not command.words and not command.redirects:
            return
        if command.words and command.words[0] in _KEYWORDS:
            raise NotATool(f"a command with {command.words[0]!r} is not read here")
        names = [re.match(r"([A-Za-z_]\w*)=", word) for word in command.words]
        if all(names):
            self.set_here.update(_own_name(name[1]) for name in names if name)
        self.commands.append(command)

    def _copy(self, count: int) -> None:
        self.out.append(self.given[self.at : self.at + count])
        self.at += count

    def _word(self, end: str) -> str:
        word: list[str] = []
        while self.at < len(self.given):
            sign = self.given[self.at]
            if sign in " \t\n;|&<>()" or (end and sign == end):
                break
            if is_hole(sign):
                self.out.append(f'"${{p_{self._hole(sign)}}}"')
                self.bare.add(self.code.name(sign))
                word.append(sign)
                self.at += 1
            elif sign == "'":
                word.append(self._single())
            elif sign == '"':
                word.append(self._double())
            elif sign == "$":
                word.append(self._dollar(LOOSE))
            elif sign == "\\":
                word.append(self._escaped().strip("\n"))  # or the line goes on
            elif (
                sign == "`"
                or (sign == "~" and not word)
                or (sign == "{" and not self._moment(word))
            ):
                raise NotATool(f"a word with {sign!r} is not read here")
            elif sign in "*?[":
                _check_pattern("".join(word))
                word.append(sign)
                self._copy(1)
            else:
                word.append(sign)
                self._copy(1)
        if not word and self.at < len(self.given) and self.given[self.at] in "&<>()":
            raise NotATool(f"a command with {self.given[self.at]!r} is not read here")
        return "".join(word)

    def _moment(self, word: list[str]) -> bool:
        """Braces as git has them in `HEAD@{1}`: a shell makes nothing of them."""
        return word[-1:] == ["@"] and re.match(r"\{-?\w+\}", self.given[self.at :]) is not None

    def _escaped(self) -> str:
        """The sign behind a backslash."""
        after = self.given[self.at + 1 : self.at + 2]
        if not after or is_hole(after):
            raise NotATool("a value after a backslash, or nothing at all")
        self._copy(2)
        return after

    def _hole(self, sign: str) -> str:
        return self.code.name(sign)

    def _single(self) -> str:
        end = self.given.find("'", self.at + 1)
        if end < 0:
            raise NotATool("a quote that never ends")
        inner = self.given[self.at + 1 : end]
        quoted = "".join(f"'\"${{p_{self._hole(s)}}}\"'" if is_hole(s) else s for s in inner)
        self.out.append(f"'{quoted}'")
        self.at = end + 1
        return inner

    def _double(self) -> str:
        word: list[str] = []
        self._copy(1)
        while self.at < len(self.given):
            sign = self.given[self.at]
            if sign == '"':
                self._copy(1)
                return "".join(word)
            if is_hole(sign):
                self.out.append(f"${{p_{self._hole(sign)}}}")
                word.append(sign)
                self.at += 1
            elif sign == "$":
                word.append(self._dollar(COMPUTED))
            elif sign == "`":
                raise NotATool("a word with '`' is not read here")
            elif sign == "\\":
                after = self._escaped()
                word.append({"\n": ""}.get(after, after if after in '$`"\\' else f"\\{after}"))
            else:
                word.append(sign)
                self._copy(1)
        raise NotATool("a quote that never ends")

    def _dollar(self, computed: str) -> str:
        """The sign for what is computed there, or a dollar that is no more than that."""
        if self.given.startswith("$((", self.at):
            raise NotATool("arithmetic of the shell is not read here")
        if self.given.startswith("$(", self.at):
            self._copy(2)
            self.script(")")
            if self.at >= len(self.given):
                raise NotATool("a substitution that never ends")
            self._copy(1)
            return computed
        match = _NAME.match(self.given, self.at)
        if match and (match[1] or match[2]) in self.set_here:
            self._copy(len(match[0]))
            return computed
        after = self.given[self.at + 1 : self.at + 2]
        # Outside of quotes $'…' and $"…" are read by rules of their own.
        if after in ("", " ", "/", "\n") or (after in ("'", '"') and computed == COMPUTED):
            self._copy(1)
            return "$"
        raise NotATool("a variable of the environment: what it holds elsewhere is not known")

    def _here_begins(self) -> None:
        match = re.compile(r"<<(-?)[ \t]*(['\"]?)(\w+)\2").match(self.given, self.at)
        if match is None:
            raise NotATool("a here-document that is not read here")
        self.out.append(f"<<{match[1]}{match[3]}")
        self.at = match.end()
        self.bodies.append((match[3], bool(match[2]), bool(match[1])))

    def _here_documents(self) -> None:
        for end, literal, after_tabs in self.bodies:
            tabs = r"\t*" if after_tabs else ""
            match = re.compile(rf"^{tabs}{end}$", re.MULTILINE).search(self.given, self.at)
            if match is None:
                raise NotATool("a here-document that never ends")
            body = self.given[self.at : match.start()]
            if not literal and re.search(r"[$`\\]", body):
                raise NotATool("a here-document with what a shell would replace")
            body = re.sub(r"([$`\\])", r"\\\1", body)
            holes = (f"${{p_{self._hole(s)}}}" if is_hole(s) else s for s in body)
            self.out.append("".join(holes) + match[0])
            self.at = match.end()
        self.bodies = []


def _own_name(name: str) -> str:
    """A variable that is no program's: shells, git and Python find theirs under other names."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or name.startswith("p_"):
        raise NotATool(f"a command that sets {name} for all that come after it")
    return name


def _check_pattern(before: str) -> None:
    """A pattern may not begin a word, where a file's name could be read as an option, nor end in the
    folder above, nor follow a value that says where it looks."""
    last = re.split(r"[/=]", before)[-1]
    if not before or last.startswith(".") or any(is_hole(sign) for sign in last):
        raise NotATool("a pattern of file names that may find more than files of the tree")
