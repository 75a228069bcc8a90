"""A deployed tool as a skill: a file that agents load, which says when to use it and how it is called.

`.agents/skills/NAME/SKILL.md` is read by several hosts, `.claude/skills` by Claude Code. The files lie in the
project's folder, or in the user's where the scope is no project's. They are kept out of the project's commits by
`.git/info/exclude`. What somebody else wrote there, or changed since, is left alone.
"""

import json
import os
import shlex
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from metamem.core.access import Scope
from metamem.core.errors import MetamemError
from metamem.core.ids import content_id
from metamem.foundry.tools.store import Kept
from metamem.foundry.tools.telling import described, in_words
from metamem.foundry.tools.tool import Given
from metamem.service.access.projects import PROJECT, project_of
from metamem.service.database import Database
from metamem.store.engine import Execute, Value
from metamem.store.sql.base import insert_new

PLACES = (".agents/skills", ".claude/skills")
FILE = "SKILL.md"
MOST_NAME, MOST_DESCRIPTION = 64, 1024  # characters, as hosts have it
FOLDERS = 5  # clones of a project that get a skill
_EXCLUDED = "# a skill of metamem"


@dataclass(frozen=True, slots=True)
class Written:
    path: str
    digest: str


def skill_name(kept: Kept) -> str:
    """Letters, digits and hyphens; also the name of its folder."""
    return kept.name.replace("_", "-")[:MOST_NAME]


def skill_text(kept: Kept) -> str:
    tool = kept.tool
    line = _line(kept)
    told = in_words(tool)
    rows = "\n".join(_row(each) for each in tool.given)
    return (
        # JSON's texts are YAML's, too: nothing in a description can end it.
        f"---\nname: {json.dumps(skill_name(kept))}\n"
        f"description: {json.dumps(told[:MOST_DESCRIPTION], ensure_ascii=False)}\n"
        f"metadata:\n  metamem-tool: {json.dumps(tool.id)}\n---\n\n"
        f"Asked for as: {tool.description}\n\nRun it in a folder of the project:\n\n```\n{line}\n```\n\n"
        + (f"| parameter | kind | |\n|---|---|---|\n{rows}\n\n" if rows else "")
        + "Exit code 0: every step was done. 2: a value was not taken, and nothing was done. Any other: a step"
        " failed; it says which. It works on the files of this repository alone, without network.\n"
        "If it fails, do the steps by hand. `metamem tools` lists what there is.\n"
    )


def usage(kept: Kept) -> str:
    """How a tool is called, with an example of each value."""
    rows = [
        f"  --{each.name.replace('_', '-')}  {each.kind}"
        + ("" if each.required else ", may be left out")
        + (f", such as {', '.join(map(str, each.examples))}" if each.examples else "")
        + (f"; also does: {each.about}" if each.about else "")
        for each in kept.tool.given
    ]
    return "\n".join(
        [
            f"{kept.name}: {described(kept.tool)}",
            "",
            *(rows or ["It takes no values."]),
            "",
            _line(kept),
            "It works on the git tree of the folder, without network.",
        ]
    )


def folders_for(
    execute: Execute, scope: int, named: Scope, more: Sequence[Path] = ()
) -> list[Path]:
    """Where a scope's skills belong: `more` if they are of the project, and where its sessions were."""
    if named.kind != PROJECT:
        return [Path.home()]
    rows = execute(
        "SELECT folder, MAX(at) FROM trees WHERE scope = ? GROUP BY folder ORDER BY MAX(at) DESC",
        (scope,),
    )
    found: dict[Path, None] = {}
    for folder in (*more, *(Path(name) for name, _ in rows)):
        top = top_of(folder, named)
        # The repository of a further work tree lies elsewhere: tools cannot be run there.
        if top is not None and (top / ".git").is_dir() and len(found) < FOLDERS:
            found[top] = None
    return list(found)


def top_of(folder: Path, scope: Scope) -> Path | None:
    """The top of the git tree that a folder is in; None where there is none, or it is not the scope's."""
    with suppress(OSError, MetamemError):
        start = folder.resolve(strict=True)
        if project_of(start, scope.tenant).scope == scope:
            return next(
                (each for each in (start, *start.parents) if (each / ".git").exists()), None
            )
    return None


def write(database: Database, scope: int, kept: Kept, folders: Sequence[Path]) -> list[Path]:
    """Write a tool's skill into folders; where it stands now. What is to be written is noted before, so
    that it is found again whatever happens."""
    text, name = skill_text(kept), skill_name(kept)
    new, done = _digest(text), []
    for folder in folders:
        for path in [folder / place / name / FILE for place in PLACES]:
            with database.writing() as execute:
                known = _digests(execute, scope, kept.slot, path)
                row: dict[str, Value] = {
                    "scope": scope,
                    "slot": kept.slot,
                    "path": str(path),
                    "digest": new,
                }
                insert_new(execute, "tool_skills", row)
            if _put(path, folder, text, {*known, new}):
                done.append(path)
                with database.writing() as execute:
                    execute(
                        "DELETE FROM tool_skills WHERE scope = ? AND slot = ? AND path = ?"
                        " AND digest <> ?",
                        (scope, kept.slot, str(path), new),
                    )
        _hide(folder, name)
    return done


def remove(database: Database, scope: int, slot: str) -> int:
    """Take a tool's skills away, as far as they are as they were written; how many files went."""
    with database.reading() as execute:
        found = written(execute, scope, slot)
    gone = sum(take_away(each) for each in found)
    with database.writing() as execute:
        execute("DELETE FROM tool_skills WHERE scope = ? AND slot = ?", (scope, slot))
    return gone


def written(execute: Execute, scope: int, slot: str = "") -> list[Written]:
    """The files of one tool, or of all in a scope."""
    rows = execute(
        "SELECT path, digest FROM tool_skills WHERE scope = ? AND (slot = ? OR ? = '')",
        (scope, slot, slot),
    )
    return [Written(path, digest) for path, digest in rows]


def take_away(written: Written) -> bool:
    path = Path(written.path)
    try:
        if path.is_symlink() or _digest(path.read_text(encoding="utf-8")) != written.digest:
            return False
        path.unlink()
    except (OSError, UnicodeDecodeError):
        return False
    for folder in path.parents[:3]:  # the skill's own, and those above it that hold nothing else
        with suppress(OSError):
            folder.rmdir()
    _show(path)
    return True


def _line(kept: Kept) -> str:
    """A command line that uses it."""
    example = {
        g.name: g.examples[0] if g.examples else f"<{g.name}>"
        for g in kept.tool.given
        if g.required
    }
    return f"metamem tool {kept.name} --json {shlex.quote(json.dumps(example, ensure_ascii=False))}"


def _put(path: Path, folder: Path, text: str, ours: Collection[str]) -> bool:
    """Write a file, unless another's stands there, or a link leads out of the folder."""
    try:
        if any(
            each.is_symlink()
            for each in (path, *path.parents[: len(path.parts) - len(folder.parts) - 1])
        ):
            return False
        if path.exists() and _digest(path.read_text(encoding="utf-8")) not in ours:
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, text)
    except (OSError, UnicodeDecodeError):
        return False  # a skill is one of three ways to find a tool: it must not stop the others
    return True


def _row(given: Given) -> str:
    examples = ", ".join(f"`{example}`" for example in given.examples)
    needed = "" if given.required else "may be left out; "
    told = f"such as {examples}" if examples else ""
    if given.about:
        about = given.about.replace("|", "\\|")
        told = f"also does `{about}`"
    return f"| `{given.name}` | {given.kind} | {needed}{told} |"


def _digests(execute: Execute, scope: int, slot: str, path: Path) -> list[str]:
    rows = execute(
        "SELECT digest FROM tool_skills WHERE scope = ? AND slot = ? AND path = ?",
        (scope, slot, str(path)),
    )
    return [digest for (digest,) in rows]


def _digest(text: str) -> str:
    return content_id("skill", text)


def _hide(folder: Path, name: str) -> None:
    """So that no commit takes a skill along by accident."""
    inside = folder / ".git" / "info"
    if not (folder / ".git").is_dir() or inside.is_symlink():
        return
    with suppress(OSError):
        inside.mkdir(exist_ok=True)
        exclude = inside / "exclude"
        before = (
            exclude.read_text(encoding="utf-8", errors="surrogateescape")
            if exclude.exists()
            else ""
        )
        wanted = [f"/{place}/{name}/" for place in PLACES]
        missing = [line for line in wanted if line not in before.splitlines()]
        if missing:
            begin = before if not before or before.endswith("\n") else before + "\n"
            _replace(exclude, begin + "".join(f"{_EXCLUDED}\n{line}\n" for line in missing))


def _show(path: Path) -> None:
    """Take what `_hide` wrote for one file out again."""
    name, place = path.parent.name, "/".join(path.parts[-4:-2])
    exclude = path.parents[3] / ".git" / "info" / "exclude"
    with suppress(OSError):
        lines = exclude.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
        wanted = f"/{place}/{name}/"
        kept = [
            line
            for at, line in enumerate(lines)
            if line != wanted and not (line == _EXCLUDED and lines[at + 1 : at + 2] == [wanted])
        ]
        if kept != lines:
            _replace(exclude, "".join(f"{line}\n" for line in kept))


def _replace(path: Path, text: str) -> None:
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    part.write_text(text, encoding="utf-8", errors="surrogateescape")
    part.replace(path)
