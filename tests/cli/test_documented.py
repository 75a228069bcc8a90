"""Every command line that README, the docs and the help show: it parses, and cheap ones are run.

Placeholders: words in capitals stand for something of the reader's own, ids and files for such as
the reader has. `STAND_INS` says what each becomes where a line is run; for parsing they stay as
they are. A bare command, as in a sentence about it, need not have what the command requires.
"""

import re
import shlex
from pathlib import Path

import pytest
import typer
from typer.core import TyperGroup

from metamem.cli.running import program
from metamem.core.types import Design
from metamem.designs.library import load
from metamem.store.sqlite import SqliteArchive
from tests.report.filled import RUN, Filler

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCED = re.compile(r"^```(?:sh|console|)\n(.*?)^```", re.DOTALL | re.MULTILINE)
INLINE = re.compile(r"`(metamem [^`]+)`")
SHELL = re.compile(r"\s(?:>|\||&&|;)\s.*")  # what the shell makes of the output is not ours
MARKUP = re.compile(r"\[/?(?:bold|dim)\]")

LEARNED = "the learned design's id"  # known once there is an archive
DESIGN_FILE = "a design's file"
STAND_INS = {
    "3fa9": LEARNED,
    "3f9ac2d1": LEARNED,
    "ID": LEARNED,
    "A": "no_memory",
    "B": "success_retrieval",
    "DESIGN...": "success_retrieval",
    "DOMAIN": "toy",
    "alfworld": "toy",
    "dialogue": "toy",
    "minihack": "toy",
    "lamps:LampDomain": "toy",
    "my_design.py": DESIGN_FILE,
    "my_memory.py": DESIGN_FILE,
    "last_words.py": DESIGN_FILE,
    "mine.json": "careful",
    "RUN": RUN,
    "alfworld-s1-1": RUN,
    "toy-s0-1": RUN,
}
AT_ONCE = ("--install-completion", "--debug")  # these act, or need more, as soon as they are parsed
NAMES = {"--domain": "toy", "domains": "toy", "runs": RUN}  # what NAME is, by the words before it
# Cheap, offline and without effect beyond the archive: these are really run.
RUN_THEM = [
    "agents", "archive diff", "archive list", "archive show", "archive tree", "compare", "designs",
    "domains", "domains show", "evaluate", "models", "models spent", "promotions", "reads", "report",
    "runs", "runs show",
]  # fmt: skip
NOT_THESE = {
    "--across",  # needs runs in two domains
    "--model", "--agent", "--data", "--parity",  # models and data that are not here
    "--open",  # a browser
    "--rollout", "--repeats", "--tasks",  # of published settings, in domains that have so many
}  # fmt: skip


def _joined(block: str) -> list[str]:
    """The lines of a shell block, those that go on behind a backslash in one."""
    return re.sub(r"\\\n\s*", " ", block).splitlines()


def _shown_in(text: str) -> list[str]:
    found = [line for block in FENCED.findall(text) for line in _joined(block)]
    outside = FENCED.sub("", text)
    paragraphs = re.split(r"\n\s*\n", outside)
    found += [" ".join(m.split()) for part in paragraphs for m in INLINE.findall(part)]
    return [line for line in found if line.startswith("metamem ")]


def _commands(command, path=()):
    yield path, command
    for name, each in getattr(command, "commands", {}).items():
        yield from _commands(each, (*path, name))


def _helped() -> list[str]:
    """The examples that commands show with --help."""
    lines = []
    for _, command in _commands(typer.main.get_command(program())):
        text = re.sub(r"\n  (?=\S)", " ", MARKUP.sub("", command.epilog or ""))
        lines += [line for line in text.splitlines() if line.startswith("metamem ")]
    return [line for line in lines if "COMMAND" not in line]


def _words(line: str) -> list[str]:
    return shlex.split(SHELL.sub("", line), comments=True)[1:]


LINES = [
    pytest.param(line, id=f"{name}: {line[8:60]}")
    for name, lines in [(page.name, _shown_in(page.read_text("utf-8"))) for page in PAGES]
    + [("help", _helped())]
    for line in dict.fromkeys(lines)
]


def _command(words: list[str]) -> tuple[list[str], object]:
    """The command that the words begin with, and its path."""
    path, command = [], typer.main.get_command(program())
    for word in words:
        if word not in getattr(command, "commands", {}):
            break
        path.append(word)
        command = command.commands[word]
    return path, command


def _parse(words: list[str]) -> None:
    """Parse as the program does, without running anything."""
    path, _ = _command(words)
    if path == words and path:
        return  # no more than a command's name, as in a sentence about it
    command, context, name = typer.main.get_command(program()), None, "metamem"
    if words[0] in AT_ONCE:
        assert words[0] in {option for param in command.params for option in param.opts}
        return
    while True:
        context = command.make_context(name, list(words), parent=context)
        if not isinstance(command, TyperGroup):
            return
        words = [*context._protected_args, *context.args]
        name, command, words = command.resolve_command(context, words)


@pytest.mark.parametrize("line", LINES)
def test_it_parses(line):
    _parse(_words(line))


def test_the_lines_are_found_and_wrong_ones_are_noticed():
    assert len(LINES) > 60
    for line in (
        "metamem evaluate alfworld --design ./last_words.py",
        "metamem lern toy",
        "metamem report a b c",
        "metamem curve no_memory",
    ):
        with pytest.raises(Exception, match=r"(?i)no such|unexpected|missing"):
            _parse(_words(line))


def _cheap() -> list[str]:
    """Lines of which no two come to the same."""
    chosen: dict[tuple[str, ...], str] = {}
    for param in LINES:
        words = _words(param.values[0])
        path, command = _command(words)
        whole = path != words or not any(each.required for each in command.params)
        if whole and " ".join(path) in RUN_THEM and not NOT_THESE & set(words):
            chosen.setdefault(tuple(_stood_in(words)), param.values[0])
    return [line for words, line in chosen.items() if words != ("compare",)]


def _stood_in(words: list[str]) -> list[str]:
    made = []
    for place, word in enumerate(words):
        if word == "NAME":
            word = next(name for before, name in NAMES.items() if before in words[:place])
        made.append(STAND_INS.get(word.removeprefix("./"), word))
    return made


@pytest.mark.parametrize("line", _cheap())
def test_it_works(metamem, monkeypatch, tmp_path, filled, line):
    home, learned, file = filled
    monkeypatch.chdir(tmp_path)  # some lines write a file where they are run
    monkeypatch.setenv("METAMEM_HOME", str(home))
    meant = {LEARNED: learned, DESIGN_FILE: str(file)}
    said = metamem(*(meant.get(word, word) for word in _stood_in(_words(line))))
    assert said.code == 0, said.err
    assert said.out.strip()


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """An archive with a run and a design that works, and the file of another."""
    folder = tmp_path_factory.mktemp("documented")
    source = load("success_retrieval").source
    learned, file = Design(f"{source}\n# learned\n"), folder / "own.py"
    file.write_text(f"{source}\n# written\n")
    with SqliteArchive(folder / "archive.db") as archive:
        Filler(archive).run()
        archive.add_design(learned)
    return folder, learned.id, file
