"""Notes in Markdown that agents are given: CLAUDE.md, AGENTS.md, GEMINI.md, and folders of memories.

Each bullet and each paragraph is a piece of its own, with the headings that it stands under.
"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from metamem.core.errors import DataError
from metamem.core.ids import content_id
from metamem.service.export import FOR_PEOPLE
from metamem.service.importing.items import Piece
from metamem.service.words import Draft

IN_PROJECT = ("CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md", "AGENTS.md", "GEMINI.md")
INDEX = "MEMORY.md"  # of a folder of memories: links to what stands beside it
MOST = 2_000_000  # bytes of a file
_HEADING = re.compile(r"(#{1,6})\s+(.+?)\s*#*\s*$")
_BULLET = re.compile(r"(\s*)(?:[-*+]|\d{1,3}[.)])\s+(.*)")
_LINK = re.compile(r"\[[^\]]*\]\([^)]*\)\s*(?:[—–:-].*)?")
_TYPES = {"user": "preference", "feedback": "correction", "project": "note", "reference": "note"}


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a text, and the headings above it."""

    headings: tuple[str, ...]
    text: str


def of_user(environment: Mapping[str, str] = os.environ) -> list[Path]:
    """The notes that hold in all projects of the user."""
    from metamem.service.importing import claude, codex, gemini

    found = (
        claude.home(environment) / "CLAUDE.md",
        codex.home(environment) / "AGENTS.md",
        gemini.home(environment) / "GEMINI.md",
    )
    return [path for path in found if path.is_file()]


def of_project(folder: Path) -> list[Path]:
    """The notes that a project's folder holds; a file that is only a link to another counts once."""
    found: dict[Path, Path] = {}
    for name in IN_PROJECT:
        if (folder / name).is_file():
            found.setdefault((folder / name).resolve(), folder / name)
    return list(found.values())


def instructions(path: Path) -> list[Piece]:
    """The pieces of a file of instructions, as a person's words."""
    return _pieces(path, _without_head(_read(path))[1], "instruction", "user")


def memories_of(folder: Path) -> Iterator[tuple[Path, list[Piece]]]:
    """The pieces of every file in a folder of memories, as an agent's words."""
    if not folder.is_dir():
        raise DataError(f"{folder} is no folder")
    for path in sorted(folder.rglob("*.md")):
        head, body = _without_head(_read(path))
        kind = _TYPES.get(head.get("type", ""), "note")
        pieces = _pieces(path, body, kind, "agent", head.get("description", ""))
        if path.name == INDEX:
            pieces = [p for p in pieces if not _LINK.fullmatch(p.draft.text.rpartition(": ")[2])]
        yield path, pieces


def blocks(text: str) -> Iterator[Block]:
    """The bullets and paragraphs of a Markdown text. What is set in under a bullet belongs to it,
    and so does code after a line that announces it."""
    headings: list[tuple[int, str]] = []
    lines: list[str] = []
    depth = -1  # of the bullet that is being read
    fenced = False

    def above() -> tuple[str, ...]:
        return tuple(title for _, title in headings)

    for line in [*text.splitlines(), ""]:
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
            lines.append(line)
            continue
        if fenced:
            lines.append(line)
            continue
        heading, bullet = _HEADING.match(line), _BULLET.match(line)
        nested = bullet and lines and depth >= 0 and len(bullet[1].expandtabs(4)) > depth
        ends = heading or (bullet and not nested) or not line.strip()
        if ends and lines and not _announces(lines, line):
            yield Block(above(), _joined(lines))
            lines = []
        if heading:
            level = len(heading[1])
            headings = [(n, title) for n, title in headings if n < level]
            headings.append((level, heading[2]))
            depth = -1
        elif bullet and not nested:
            depth = len(bullet[1].expandtabs(4))
            lines = [*lines, bullet[2]] if lines else [bullet[2]]
        elif line.strip():
            if not lines:
                depth = -1
            lines.append(line.strip() if depth >= 0 else line.rstrip())
    if lines:
        yield Block(above(), _joined(lines))


def _announces(lines: list[str], line: str) -> bool:
    """Whether what follows an empty line still belongs to what is before it."""
    return not line.strip() and lines[-1].rstrip().endswith(":") and len(lines) == 1


def _joined(lines: list[str]) -> str:
    return "\n".join(lines).strip()


def _pieces(path: Path, text: str, kind: str, source: str, head: str = "") -> list[Piece]:
    found: dict[str, Piece] = {}
    for block in blocks(text):
        if not block.text or block.text.startswith(("@", "<!--")):
            continue  # another file, or a remark for people
        # The first heading is the title of the file, which says little.
        above = " › ".join([*([head] if head else []), *block.headings[1:]])
        words = f"{above}: {block.text}" if above else block.text
        key = content_id("note", words)
        found.setdefault(key, Piece(key, Draft(words, kind, source, origin=f"file:{path}")))
    return list(found.values())


def _without_head(text: str) -> tuple[dict[str, str], str]:
    """The lines between two rules at the top, as names and values, and the text below them."""
    lines = text.splitlines()
    if not lines or lines[0].strip() != "---":
        return {}, text
    for number, line in enumerate(lines[1:], start=1):
        if line.strip() == "---":
            pairs = (one.partition(":") for one in lines[1:number])
            head = {name.strip(): value.strip().strip("\"'") for name, _, value in pairs}
            return head, "\n".join(lines[number + 1 :])
    return {}, text


def _read(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from None
    if len(data) > MOST:
        raise DataError(f"{path} has more than {MOST} bytes")
    text = data.decode("utf-8", "replace")
    if FOR_PEOPLE in text:
        # Read as notes, what tools and others said would stand there as a person's instructions.
        raise DataError(
            f"{path} is memory as metamem wrote it out for people",
            hint="metamem export > memory.jsonl has all of it, and can be imported",
        )
    return text
