"""Which programs a tool may run: those of which it is known that they stay in the tree and can be undone.

Everything else is refused, with the reason. What a project's own scripts do is seen in replays, in a jail
without a network.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from metamem.foundry.tools import allowed
from metamem.foundry.tools.body import stays
from metamem.foundry.tools.operations import COMPUTED, LOOSE, Code, NotATool, OverNetwork, is_hole
from metamem.foundry.tools.options import Parsed, Takes, check_computed, parsed, told
from metamem.foundry.tools.quoting import Command
from metamem.foundry.tools.sedscript import sed_rules


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SAYING = _words("echo printf true false test")
_ECHO = re.compile("-[neE]+")
_NETWORK = _words(
    "curl wget ssh scp sftp rsync nc ncat netcat telnet ftp pip pip3 pipx uv uvx npm npx pnpm yarn bun gem cargo"
    " go docker podman kubectl helm aws gcloud az gh hub apt apt-get brew dnf yum apk mail mailx sendmail mutt"
    " openssl dig nslookup host ping socat"
)
_GIT_NETWORK = _words("push pull fetch clone ls-remote submodule")
_LOSING = _words(
    "rm rmdir shred dd truncate mkfs kill pkill killall sudo su chown chmod ln xargs eval exec source ."
)
_OUTWARD = re.compile(
    r"deploy|publish|push|upload|install|release|send|notify|clean|purge|destroy|remote|fetch|pull|login|reset"
)
_SECRETS = re.compile(
    r"(^|/)(\.env[\w.]*|\.netrc|\.npmrc|\.pypirc|id_[a-z0-9]+|[\w.-]*\.(pem|key|p12|pfx|kdbx)|"
    r"\.ssh|\.aws|\.gnupg|\.kube|[\w.-]*(credential|secret|password)s?[\w.-]*)(/|$)",
    re.IGNORECASE,
)
# Agents, editors and git run what they find there, or take it for their orders.
_OBEYED = re.compile(
    r"(^|/)(\.claude|\.codex|\.gemini|\.opencode|\.cursor|\.vscode|\.idea|\.husky|\.githooks|\.mcp\.json|"
    r"\.gitmodules|\.gitconfig)(/|$)",
    re.IGNORECASE,
)
_SETTINGS = _words("PYTHONPATH PYTHONDONTWRITEBYTECODE LANG LC_ALL TZ CI NO_COLOR PYTHONHASHSEED")
_GIT_SETTINGS = re.compile(r"(user\.(name|email)|color\.ui|core\.quotepath)=", re.IGNORECASE)
_MADE_SHELLS = re.compile(r"\.?(SHELL|MAKE)\w*", re.IGNORECASE)
_PLAIN = re.compile(r"[\w.+@-]*")

Rules = dict[str, set[str]]  # for each hole, what its value must hold to


@dataclass(frozen=True, slots=True)
class Checked:
    """A command that a tool may run."""

    rules: Rules = field(default_factory=dict)
    paths: tuple[str, ...] = ()  # coded words that must stay in the tree, whatever the values are
    looks: bool = True  # nothing is changed by it


def checked_command(command: Command, code: Code) -> Checked:
    """What a command's values must hold to, and whether it only looks; `NotATool` where it may not be run."""
    check = _Check(code)
    writes = False
    for sign, target in command.redirects:
        check.path(target)
        writes = writes or (">" in sign and target != "/dev/null")
    words = list(command.words)
    while words and (setting := re.match(r"([A-Za-z_]\w*)=", words[0])):
        word = words.pop(0)
        if words and setting[1] not in _SETTINGS:
            raise NotATool(f"a command that sets {setting[1]} for a program")
        if words and any(is_hole(sign) or sign in (COMPUTED, LOOSE) for sign in word):
            raise NotATool("how a program is set up would be a value")
        check_path(word[setting.end() :])
    if not words:
        return check.done(not writes)
    program = words.pop(0)
    if any(is_hole(sign) or sign in (COMPUTED, LOOSE) for sign in program) or "$" in program:
        raise NotATool("which program is run would be a value")
    looks = _program(program, words, check)
    return check.done(looks and not writes)


class _Check:
    """What is found out about one command."""

    def __init__(self, code: Code) -> None:
        self._code = code
        self._rules: Rules = {}
        self._paths: list[str] = []

    def done(self, looks: bool) -> Checked:
        return Checked(self._rules, tuple(self._paths), looks)

    def demand(self, word: str, *wanted: str) -> None:
        for sign in word:
            if is_hole(sign):
                self._rules.setdefault(self._code.name(sign), set()).update(wanted)

    def path(self, word: str) -> None:
        """A word that may be a path, now or with values in it."""
        if COMPUTED in word or LOOSE in word:
            raise NotATool("what a command printed would be the name of a file")
        check_path(word)
        self.demand(word, "no way out")
        if any(is_hole(sign) for sign in word):
            self._paths.append(word)

    def pieces(self, program: str, found: Parsed) -> None:
        check_computed(program, found)
        for piece, role in found.pieces:
            if role == "number":
                self.demand(piece, "number")
            elif role in ("word", "operand"):
                self.path(piece)
            if role.endswith("operand"):
                first = next((at for at, sign in enumerate(piece) if not is_hole(sign)), len(piece))
                self.demand(piece[:first], "no option")

    def script(self, script: str) -> None:
        for sign, wanted in sed_rules(script).items():
            self._rules.setdefault(self._code.name(sign), set()).update(wanted)


def may_hold_secrets(path: str) -> bool:
    return _SECRETS.search(path) is not None


def check_path(word: str) -> None:
    """No word leads out of the tree, to what is kept secret, or to what somebody obeys."""
    if word == "/dev/null":
        return
    if not stays(word):
        raise NotATool(f"a path outside of the tree, or into what git keeps: {told(word)}")
    for piece in {word, *re.split("[=:,]", word)}:
        if may_hold_secrets(piece):
            raise NotATool(f"a file that may hold secrets: {told(piece)}")
        if _OBEYED.search(piece):
            raise NotATool(f"what others run or obey: {told(piece)}")


def _program(program: str, words: list[str], check: _Check) -> bool:
    """Whether a program only looks; refused where it is not known to stay in the tree."""
    if program in _NETWORK:
        raise OverNetwork(f"{program} works over the network")
    if program in _LOSING:
        raise NotATool(f"what {program} does cannot be undone, or not be known beforehand")
    if program in _SAYING:
        return _saying(program, words, check)
    if program == "find":
        return _find(words, check)
    if program == "git":
        return _git(words, check)
    if program in ("python", "python3"):
        return _python(words, check)
    if program == "make":
        return _make(words, check)
    if program == "cd":
        if len(words) != 1 or not words[0] or words[0].startswith("-"):
            raise NotATool("cd to somewhere outside of the tree")
        check.pieces(program, Parsed([(words[0], "operand")]))
        return False
    for known in (allowed.LOOKING, allowed.CHANGING, allowed.CHECKING):
        if program in known and "." not in program:
            return _plain(program, words, known[program], check) and known is allowed.LOOKING
    raise NotATool(f"what {told(program)} does outside of the tree is not known")


def _plain(program: str, words: Sequence[str], takes: Takes, check: _Check) -> bool:
    found = parsed(program, words, takes)
    check.pieces(program, found)
    if program == "date" and any(not word.startswith("+") for word in found.operands()):
        raise NotATool("date that sets the clock")
    if program == "sed":
        scripts = [piece for piece, role in found.pieces if role.startswith("text")]
        for script in scripts:
            check.script(script)
        if not scripts:
            raise NotATool("sed without a script")
    return program != "uniq" or len(found.operands()) < 2


def _saying(program: str, words: list[str], check: _Check) -> bool:
    found = Parsed([(word, "text") for word in words])
    if program == "printf":
        if not words or words[0].startswith("-"):
            raise NotATool("printf that sets a variable")
        found = Parsed([(words[0], "text operand"), *found.pieces[1:]])
    elif program == "echo":
        first = next((word for word in words if not _ECHO.fullmatch(word)), "")
        if first and is_hole(first[0]) and all(is_hole(sign) or sign in "neE" for sign in first):
            check.demand(first, "no option of echo")
    check.pieces(program, found)
    return True


def _find(words: list[str], check: _Check) -> bool:
    found, rest = Parsed(), list(words)
    while rest:
        word = rest.pop(0)
        if word in allowed.FIND_TEXTS | allowed.FIND_PATHS:
            if not rest:
                raise NotATool(f"find with {word} and nothing behind it")
            found.pieces.append((rest.pop(0), "word" if word in allowed.FIND_PATHS else "text"))
        elif word.startswith("-") and word not in allowed.FIND:
            raise NotATool(f"find with {told(word)}: it may do more than find")
        elif word not in allowed.FIND:
            found.pieces.append((word, "operand"))
    check.pieces("find", found)
    return True


def _git(words: list[str], check: _Check) -> bool:
    rest = list(words)
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if option == "--no-pager":
            continue
        setting = rest.pop(0) if option == "-c" and rest else ""
        named = _GIT_SETTINGS.match(setting)
        if named is None:
            raise NotATool(f"git with {told(option)} {told(setting)}".rstrip())
        check.pieces("git", Parsed([(setting[named.end() :], "text")]))
    verb = rest.pop(0) if rest else ""
    takes = allowed.GIT_LOOKING.get(verb) or allowed.GIT_CHANGING.get(verb)
    if verb in _GIT_NETWORK:
        raise OverNetwork(f"git {verb} works over the network")
    if takes is None:
        raise NotATool(f"git {told(verb)} works over the network, or cannot be undone")
    found = parsed(f"git {verb}", rest, takes)
    check.pieces("git", found)
    if verb == "checkout" and "-b" not in found.options:
        raise NotATool("git checkout may throw away what is not committed")
    if verb == "commit" and not {"-m", "--message"} & found.options:
        raise NotATool("git commit that asks for its message")
    if verb in ("branch", "tag") and (not found.operands() or {"-l", "--list"} & found.options):
        return True
    return verb in allowed.GIT_LOOKING


def _python(words: list[str], check: _Check) -> bool:
    if words[:1] == ["-m"]:
        module = (words[1:2] or [""])[0]
        takes = allowed.CHECKING.get(module)
        if takes is None:
            raise NotATool("a module of Python of which it is not known what it does")
        found = parsed(f"python -m {module}", words[2:], takes)
        # A name without a slash is imported, and what it names is called.
        loose = [word for word in found.operands() if is_hole(word[:1] or " ")]
        if module in ("unittest", "doctest") and loose:
            raise NotATool("which module is run would be a value")
        check.pieces("python", found)
        return False
    script = (words or [""])[0]
    if script.endswith(".py") and not script.startswith("-") and not any(map(is_hole, script)):
        if _OUTWARD.search(script):
            raise NotATool("a script that may reach out of the tree")
        if any(w.startswith("-") and any(map(is_hole, w.partition("=")[0])) for w in words):
            raise NotATool("which option is given would be a value")
        check.pieces("python", Parsed([(word, "operand") for word in words]))
        return False
    raise NotATool("code for Python that is no file of the tree")


def _make(words: list[str], check: _Check) -> bool:
    """Targets are names that were recorded; variables are plain words, which make pastes into shell texts."""
    for word in words:
        name, sign, value = word.partition("=")
        plain = "".join("x" if is_hole(each) else each for each in value)
        if re.fullmatch(r"-([Bksw]+|j\d*)", word):
            continue
        if _OUTWARD.search(word):
            raise NotATool("a target of make that may reach out of the tree")
        if sign and (_MADE_SHELLS.fullmatch(name) or not _PLAIN.fullmatch(plain)):
            raise NotATool("a variable of make that may be a command")
        if not re.fullmatch(r"[A-Za-z0-9_][\w./-]*", name):
            raise NotATool(f"make with {told(word)}")
        check.path(word)
        check.demand(value, "plain name")
    return False


def all_rules(found: Sequence[Mapping[str, set[str]]]) -> Mapping[str, set[str]]:
    together: Rules = {}
    for one in found:
        for name, wanted in one.items():
            together.setdefault(name, set()).update(wanted)
    return together
