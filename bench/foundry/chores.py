"""Chores that come again with other values: how they are done by hand, and how one sees that they are done.

A script says which command is right next, and is told what came back: what an earlier command prints goes
into later ones. Where people stumble again and again, a move also has the forms that fail, which are real
failures of real programs. Whether a chore is done is seen in the tree and its history, never in words.
"""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from random import Random

from bench.foundry.world import STABLE, WORDS, Project, Tree, fix_title, mended

WHO = "git -c user.name=Dev -c user.email=dev@example.com"
Slots = Mapping[str, str]
Script = Generator["Move", str, None]


@dataclass(frozen=True, slots=True)
class Trouble:
    """A failure that comes again: by which words its remedy is known when somebody suggests it."""

    name: str
    sign: str


IDENTITY = Trouble("no identity", "user.name=")
RUNNER = Trouble("no pytest", "-m unittest")
SEARCH_PATH = Trouble("package not found", "PYTHONPATH=.")
UNPREPARED = Trouble("file not made yet", "make header")
TROUBLES = (IDENTITY, RUNNER, SEARCH_PATH, UNPREPARED)


@dataclass(frozen=True, slots=True)
class Move:
    """The command that is right next, and what somebody may try instead who does not know it."""

    command: str
    trouble: Trouble | None = None
    failing: tuple[str, ...] = ()  # tried in this order
    first: str = ""  # has to be done before the command works; part of the remedy


@dataclass(frozen=True, slots=True)
class Chore:
    name: str
    goals: tuple[str, ...]  # in which words it is asked for
    slots: Callable[[Project, Random], dict[str, str]]
    script: Callable[[Project, Slots], Script]
    done: Callable[[Tree, Slots], bool]


def commit(words: str) -> Move:
    """Nobody told git who is at work here."""
    failing = (f"git commit {words}", f"git commit --no-verify {words}")
    return Move(f"{WHO} commit {words}", IDENTITY, failing)


def tests() -> Move:
    failing = ("pytest -q", "python -m pytest -q")
    return Move("python -m unittest -q", RUNNER, failing)


def _release_slots(given: Project, random: Random) -> dict[str, str]:
    major, minor, patch = (int(part) for part in given.version.split("."))
    new = random.choice([(major, minor, patch + 1), (major, minor + 1, 0), (major + 1, 0, 0)])
    return {
        "version": ".".join(map(str, new)),
        "change": f"{random.choice(WORDS)} {random.choice(WORDS)}",
    }


def _release(given: Project, slots: Slots) -> Script:
    new = slots["version"]
    old = (yield Move("cat VERSION")).strip()
    yield Move(f"sed -i 's/{old}/{new}/' VERSION {given.package}/__init__.py")
    yield Move(f"sed -i '2a ## {new}: {slots['change']}' CHANGELOG.md")
    yield commit(f"-qam 'Release {new}'")
    yield Move(f"git tag v{new}")


def _released(tree: Tree, slots: Slots) -> bool:
    new = slots["version"]
    return (
        tree.read("VERSION") == f"{new}\n"
        and tree.read(f"{tree.project.package}/__init__.py") == f'__version__ = "{new}"\n'
        and f"## {new}: {slots['change']}\n" in tree.read("CHANGELOG.md")
        and tree.git("rev-parse", f"v{new}^{{commit}}") == tree.git("rev-parse", "main")
        and tree.clean()
    )


def _module_slots(given: Project, random: Random) -> dict[str, str]:
    name = random.choice([word for word in WORDS if word not in given.modules])
    return {
        "module": name,
        "function": f"make_{random.choice(WORDS)}",
        "number": str(random.randint(2, 999)),
    }


def _module(given: Project, slots: Slots) -> Script:
    package, name, function, number = (
        given.package,
        slots["module"],
        slots["function"],
        slots["number"],
    )
    yield Move(f"printf 'def {function}():\\n    return {number}\\n' > {package}/{name}.py")
    test = (
        f"import unittest\\n\\nfrom {package}.{name} import {function}\\n\\n\\nclass Made(unittest.TestCase):\\n"
        f"    def test_value(self):\\n        self.assertEqual({function}(), {number})\\n"
    )
    yield Move(f"printf '{test}' > tests/test_{name}.py")
    yield Move(f"echo 'from {package}.{name} import {function}' >> {package}/__init__.py")
    yield tests()
    yield Move(f"git add {package}/{name}.py tests/test_{name}.py")
    yield commit(f"-qam 'Module {name}'")


def _module_made(tree: Tree, slots: Slots) -> bool:
    package, name, function = tree.project.package, slots["module"], slots["function"]
    return (
        tree.read(f"{package}/{name}.py") == f"def {function}():\n    return {slots['number']}\n"
        and f"assertEqual({function}(), {slots['number']})" in tree.read(f"tests/test_{name}.py")
        and f"from {package}.{name} import {function}\n" in tree.read(f"{package}/__init__.py")
        and _committed(tree)
    )


def _rename_slots(given: Project, random: Random) -> dict[str, str]:
    return {"old": random.choice(given.functions), "new": f"run_{random.choice(WORDS)}"}


def _rename(given: Project, slots: Slots) -> Script:
    found = yield Move(f"grep -rlw --include=*.py {slots['old']} {given.package} tests")
    for path in sorted(found.split()):
        yield Move(f"sed -i 's/\\b{slots['old']}\\b/{slots['new']}/g' {path}")
    yield tests()
    yield commit(f"-qam 'Rename {slots['old']} to {slots['new']}'")


def _renamed(tree: Tree, slots: Slots) -> bool:
    left = tree.git("grep", "-lw", slots["old"], "--", "*.py")
    return (
        not left
        and f"def {slots['new']}():" in tree.read(f"{tree.project.package}/core.py")
        and _committed(tree)
    )


def _setting_slots(given: Project, random: Random) -> dict[str, str]:
    key = "_".join(random.sample(WORDS, 2))
    return {"key": key, "value": random.choice(("on", "off", str(random.randint(3, 900))))}


def _setting(given: Project, slots: Slots) -> Script:
    key, value = slots["key"], slots["value"]
    yield Move(f"echo '{key} = {value}' >> settings.ini")
    yield Move(f"""sed -i '/^DEFAULTS/a \\    "{key}": "{value}",' {given.package}/config.py""")
    yield Move(f"echo '- {key}: {value} by default' >> docs/settings.md")
    yield commit(f"-qam 'Setting {key}'")


def _set(tree: Tree, slots: Slots) -> bool:
    key, value = slots["key"], slots["value"]
    return (
        f"{key} = {value}\n" in tree.read("settings.ini")
        and f'    "{key}": "{value}",\n' in tree.read(f"{tree.project.package}/config.py")
        and f"- {key}: {value} by default\n" in tree.read("docs/settings.md")
        and _committed(tree)
    )


def _command_slots(given: Project, random: Random) -> dict[str, str]:
    return {"command": random.choice(WORDS), "help": f"shows the {random.choice(WORDS)}"}


def _command(given: Project, slots: Slots) -> Script:
    yield Move(f"echo '{slots['command']},{slots['help']}' >> data/commands.csv")
    yield Move("make table", UNPREPARED, ("make table", "make -B table"), first="make header")
    yield Move("git add data/commands.csv docs/commands.md")
    yield commit(f"-qm 'Command {slots['command']}'")


def _commanded(tree: Tree, slots: Slots) -> bool:
    return (
        f"{slots['command']},{slots['help']}\n" in tree.read("data/commands.csv")
        and f"- {slots['command']}: {slots['help']}\n" in tree.read("docs/commands.md")
        and _committed(tree)
    )


def _backport_slots(given: Project, random: Random) -> dict[str, str]:
    return {"fix": fix_title(given)}


def _backport(given: Project, slots: Slots) -> Script:
    found = (yield Move(f"git log -1 --format=%h --grep '{slots['fix']}'")).strip()
    yield Move(f"git switch -q {STABLE}")
    yield Move(f"git cherry-pick -n {found}")
    yield commit(f"-qm '{slots['fix']}'")
    yield Move("git switch -q main")


def _backported(tree: Tree, slots: Slots) -> bool:
    given = tree.project
    content = tree.git("show", f"{STABLE}:{given.package}/{given.fixed}.py")
    return (
        content.endswith(mended(given))
        and tree.git("log", "-1", "--format=%s", STABLE) == slots["fix"]
        and tree.clean()
    )


def _deprecate_slots(given: Project, random: Random) -> dict[str, str]:
    return {"function": random.choice(given.functions), "instead": f"run_{random.choice(WORDS)}"}


def _deprecate(given: Project, slots: Slots) -> Script:
    function, instead = slots["function"], slots["instead"]
    found = yield Move(f"grep -n 'def {function}()' {given.package}/core.py")
    line = found.split(":")[0]
    yield Move(f"sed -i '{line}i # deprecated: use {instead}' {given.package}/core.py")
    yield Move(f"echo '- {function} is deprecated: use {instead}' >> CHANGELOG.md")
    yield commit(f"-qam 'Deprecate {function}'")


def _deprecated(tree: Tree, slots: Slots) -> bool:
    function, instead = slots["function"], slots["instead"]
    mark, core = f"# deprecated: use {instead}\n", tree.read(f"{tree.project.package}/core.py")
    return (
        f"{mark}def {function}():\n" in core
        and core.count(mark) == 1
        and tree.read("CHANGELOG.md").endswith(f"- {function} is deprecated: use {instead}\n")
        and _committed(tree)
    )


def _size_slots(given: Project, random: Random) -> dict[str, str]:
    return {"module": random.choice((*given.modules, "core", "config"))}


def _size(given: Project, slots: Slots) -> Script:
    module = slots["module"]
    plain = f"tools/size.py {module}"
    move = Move(
        f"PYTHONPATH=. python {plain}", SEARCH_PATH, (f"python {plain}", f"python3 {plain}")
    )
    lines = (yield move).strip()
    yield Move(f"echo '- {module}: {lines} lines' >> docs/sizes.md")
    yield commit(f"-qam 'Size of {module}'")


def _sized(tree: Tree, slots: Slots) -> bool:
    lines = len(tree.read(f"{tree.project.package}/{slots['module']}.py").splitlines())
    return f"- {slots['module']}: {lines} lines\n" in tree.read("docs/sizes.md") and _committed(
        tree
    )


def _committed(tree: Tree) -> bool:
    """One commit more than at the beginning, and nothing left lying about."""
    return tree.git("rev-list", "--count", f"{tree.commit}..main") == "1" and tree.clean()


CHORES: tuple[Chore, ...] = (
    Chore(
        "release",
        (
            "Release version {version}; the change is: {change}",
            "Please release version {version} with the change: {change}",
            "We release version {version} today, the change is: {change}",
        ),
        _release_slots,
        _release,
        _released,
    ),
    Chore(
        "module",
        (
            "Add a module {module} whose function {function} returns {number}",
            "We need a new module {module}; its function {function} returns {number}",
            "Please add the module {module} with a function {function} that returns {number}",
        ),
        _module_slots,
        _module,
        _module_made,
    ),
    Chore(
        "rename",
        (
            "Rename the function {old} to {new}",
            "Please rename {old} to {new} everywhere, it is a function",
            "The function {old} is to be called {new} from now on: rename it",
        ),
        _rename_slots,
        _rename,
        _renamed,
    ),
    Chore(
        "setting",
        (
            "Add the setting {key} with the default {value}",
            "We want a setting {key}, by default {value}",
            "Please add a new setting {key}; its default is {value}",
        ),
        _setting_slots,
        _setting,
        _set,
    ),
    Chore(
        "command",
        (
            "Add the command {command} to the table of commands: it {help}",
            "The table of commands needs the command {command}, which {help}",
            "Please put a command {command} into the commands table that {help}",
        ),
        _command_slots,
        _command,
        _commanded,
    ),
    Chore(
        "backport",
        (
            "Backport '{fix}' to the stable branch",
            "The stable branch needs a backport of '{fix}'",
            "Please backport to stable: '{fix}'",
        ),
        _backport_slots,
        _backport,
        _backported,
    ),
    Chore(
        "deprecate",
        (
            "Mark the function {function} as deprecated in favour of {instead}",
            "The function {function} is deprecated now, {instead} is to be used: mark it",
            "Please mark {function} as a deprecated function; people should use {instead}",
        ),
        _deprecate_slots,
        _deprecate,
        _deprecated,
    ),
    Chore(
        "size",
        (
            "Note the size of the module {module} in the list of sizes",
            "The list of sizes wants the size of module {module}",
            "Please write the size of the module {module} into the sizes",
        ),
        _size_slots,
        _size,
        _sized,
    ),
)
