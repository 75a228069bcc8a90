"""Runs inside of the jail, by itself: makes a tree as it was, does recorded uses again, looks at what came of it.

What is to be done comes as one JSON object on stdin, and one goes to stdout. Nothing but the standard
library is there. The folder in which it starts is the root of the tree.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

MOST_COMMITS = 2_000
_POINTERS = re.compile(r"[A-Z_]+_HEAD")
_PASSING = ("ORIG_HEAD", "FETCH_HEAD")  # they say what was there before, and nothing of what is


class Failed(Exception):
    """It cannot be done, and why."""


def git(*words: str, given: bytes = b"", may_fail: bool = False) -> bytes:
    ran = subprocess.run(["git", *words], input=given, capture_output=True, check=False)
    if ran.returncode and not may_fail:
        told = ran.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise Failed(f"git {words[0]}: {' '.join(told)[:200]}")
    return ran.stdout


# --- the tree as it was -------------------------------------------------------------------------


def begin(about: Mapping[str, Any]) -> None:
    """A repository of our own that reads another one's objects, at a commit, with changes since."""
    git("init", "-q", "--template=", f"--object-format={about['format']}")
    info = Path(".git/objects/info")
    info.mkdir(parents=True, exist_ok=True)
    (info / "alternates").write_text("".join(f"{path}\n" for path in about["objects"]))
    if about["shallow"]:
        Path(".git/shallow").write_text(about["shallow"])
    with Path(".git/config").open("a") as config:
        for part in ("core", "user"):
            config.write(f"[{part}]\n" + "".join(map(_setting, about[part].items())))
    commit = about["commit"]
    _check_size(commit, about["most_bytes"], about["most_files"])
    updates = "".join(f"create {name} {value}\n" for name, value in about["refs"].items())
    git("update-ref", "--stdin", given=updates.encode())
    head = f"ref: refs/heads/{about['head']}" if about["head"] else commit
    Path(".git/HEAD").write_text(f"{head}\n")
    git("read-tree", "-u", "--reset", commit)
    if about["diff"]:
        git("apply", "--whitespace=nowarn", "-", given=about["diff"].encode())
    moment = about["at"] * 1_000_000
    for folder, inner, names in os.walk("."):
        if folder == ".":
            inner.remove(".git")
        for name in (*names, *inner):
            os.utime(Path(folder, name), ns=(moment, moment), follow_symlinks=False)
    git("update-index", "-q", "--refresh", may_fail=True)


def _setting(named: tuple[str, str]) -> str:
    value = named[1].replace("\\", "\\\\").replace('"', '\\"')
    return f'\t{named[0]} = "{value}"\n'


def _check_size(commit: str, most_bytes: int, most_files: int) -> None:
    listed = git("ls-tree", "-r", "-l", "-z", commit).split(b"\0")[:-1]
    sizes = [line.split(b"\t", 1)[0].split()[3] for line in listed]
    if len(listed) > most_files:
        raise Failed(f"the tree has more than {most_files} files")
    if sum(int(size) for size in sizes if size != b"-") > most_bytes:
        raise Failed(f"the tree is larger than {most_bytes >> 20} MB")


# --- recorded uses ------------------------------------------------------------------------------


def redo(uses: Sequence[Mapping[str, Any]], folder: str) -> tuple[dict[str, Any], str]:
    """Do uses one after the other; stops at the first that ends otherwise than it did, which it names.
    Also the folder in which the next one begins."""
    root, where = Path.cwd(), folder
    for at, use in enumerate(uses):
        code, after = _use(use, root, where)
        wanted = use["ends"]
        if (code != wanted) if wanted >= 0 else (code == 0):
            return {"at": at, "code": code}, where
        where = after if use["keeps"] and inside(root, Path(root, after)) else where
    return {}, where


def _use(use: Mapping[str, Any], root: Path, where: str) -> tuple[int, str]:
    """The exit code of a use, and the folder that its shell ended in."""
    before: dict[Path, bytes | None] = {}
    for op in use["does"]:
        if op["kind"] == "shell":
            code, where = _shell(op, root, where)
        else:
            code = _file(op, root, before)
        if code:
            for path, content in before.items():  # a change of several places is made whole, or not
                path.write_bytes(content) if content is not None else path.unlink(missing_ok=True)
            return code, where
    return 0, where


def _shell(op: Mapping[str, Any], root: Path, where: str) -> tuple[int, str]:
    folder = root / (op["path"] if op["path"] is not None else where)
    ours, theirs = os.pipe()
    try:
        os.set_blocking(ours, False)
        ran = subprocess.run(
            ["bash", "-c", f"trap 'pwd -P >&{theirs}' EXIT\n{op['text']}"],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(theirs,),
            check=False,
        )
        try:
            said = os.read(ours, 8192).decode(errors="replace").rstrip("\n")
        except BlockingIOError:
            said = ""
    except OSError:
        return 126, where  # the folder is not there
    finally:
        os.close(ours)
        os.close(theirs)
    return ran.returncode if ran.returncode >= 0 else 128 - ran.returncode, said or where


def _file(op: Mapping[str, Any], root: Path, before: dict[Path, bytes | None]) -> int:
    path = root / op["path"]
    if not inside(root, path):
        return 1
    try:
        content = path.read_bytes() if path.is_file() else None
        before.setdefault(path, content)
        if op["kind"] == "delete":
            path.unlink()
        elif op["kind"] == "write":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(op["text"].encode(errors="surrogateescape"))
        else:
            old, new = (op[n].encode(errors="surrogateescape") for n in ("text", "new"))
            count = (content or b"").count(old) if old else 0
            if content is None or count == 0 or (count > 1 and not op["everywhere"]):
                return 1
            path.write_bytes(content.replace(old, new))
    except OSError:
        return 1
    return 0


def inside(root: Path, path: Path) -> bool:
    found = path.resolve()
    return found.is_relative_to(root) and ".git" not in found.relative_to(root).parts


# --- what came of it ----------------------------------------------------------------------------


def look(about: Mapping[str, Any]) -> dict[str, Any]:
    """Branches, tags, commits and the index; commits by what is in them, whatever they are called."""
    raw = git("for-each-ref", "--format=%(refname) %(objectname) %(symref)").decode()
    refs = {
        name: (value, link) for name, value, link in (_three(line) for line in raw.splitlines())
    }
    head = Path(".git/HEAD").read_text().strip()
    branch = head.removeprefix("ref: ") if head.startswith("ref: ") else ""
    commit = refs.get(branch, ("", ""))[0] if branch else head
    stash: list[str] = []
    if "refs/stash" in refs:
        stash = git("log", "-g", "--format=%H", "refs/stash", "--").decode().split()
    pointers = {
        path.name: re.findall(r"[0-9a-f]{40,64}", path.read_text(errors="replace"))
        for path in sorted(Path(".git").iterdir())
        if _POINTERS.fullmatch(path.name) and path.name not in _PASSING and path.is_file()
    }
    tips = {commit, *stash, *(value for value, _ in refs.values())}
    tips.update(*pointers.values())
    names = _Names(sorted(tips - {""}), about["base"])
    return {
        "head": branch,
        "commit": names.of(commit),
        "refs": {name: [names.of(value), link] for name, (value, link) in refs.items()},
        "stash": [names.of(value) for value in stash],
        "pointers": {
            name: [names.of(value) for value in found] for name, found in pointers.items()
        },
        "index": hashlib.sha256(git("ls-files", "--stage", "-v", "-z")).hexdigest(),
    }


def _three(line: str) -> tuple[str, str, str]:
    name, value, link = [*line.split(" "), ""][:3]
    return name, value, link


class _Names:
    """Names for commits and tags that hang on what is in them, and neither on times nor on their ids.

    What was there before keeps its id: nobody made it.
    """

    def __init__(self, tips: Sequence[str], base: Sequence[str]) -> None:
        self._known: dict[str, str] = {"": ""}
        known = set(base)
        fresh = [tip for tip in tips if tip not in known]
        if not fresh:
            return
        wanted = "".join(f"{tip}\n" for tip in fresh) + "".join(f"^{old}\n" for old in base)
        words = ("rev-list", "--reverse", "--topo-order", f"--max-count={MOST_COMMITS + 1}")
        listed = git(*words, "--stdin", given=wanted.encode()).decode().split()
        if len(listed) > MOST_COMMITS:
            raise Failed(f"more than {MOST_COMMITS} commits were made")
        for name, kind, content in _objects(dict.fromkeys([*listed, *fresh])):
            self._known[name] = self._named(kind, content) if kind in ("commit", "tag") else name

    def of(self, value: str) -> str:
        return self._known.get(value, value)

    def _named(self, kind: str, content: bytes) -> str:
        head, _, message = content.partition(b"\n\n")
        told = []
        for line in head.decode(errors="surrogateescape").splitlines():
            what, _, value = line.partition(" ")
            if what in ("parent", "object"):
                told.append((what, self.of(value)))
            elif what in ("author", "committer"):
                told.append((what, value.rpartition("> ")[0]))  # without the time
            elif what in ("tree", "encoding", "type", "tag"):
                told.append((what, value))
        return _digest(kind, told, message.hex())


def _objects(names: Iterable[str]) -> Iterator[tuple[str, str, bytes]]:
    """Name, kind and content of objects, in the order of the names."""
    raw = git("cat-file", "--batch", given="".join(f"{name}\n" for name in names).encode())
    at = 0
    while at < len(raw):
        end = raw.index(b"\n", at)
        name, kind, size = raw[at:end].decode().split(" ")
        at = end + 1 + int(size)
        yield name, kind, raw[end + 1 : at]
        at += 1


def ignored(paths: Sequence[str]) -> list[str]:
    """Which of these paths git is told to ignore."""
    given = b"".join(path.encode(errors="surrogateescape") + b"\0" for path in paths)
    said = git("check-ignore", "-z", "--stdin", given=given, may_fail=True)
    return [part.decode(errors="surrogateescape") for part in said.split(b"\0")[:-1]]


def _digest(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:40]


def main() -> None:
    asked = json.loads(sys.stdin.buffer.read())
    said: dict[str, Any] = {}
    try:
        if asked.get("begin"):
            begin(asked["begin"])
        uses, folder = asked.get("uses", ()), asked.get("folder", ".")
        said["redone"], said["folder"] = redo(uses, folder)
        if asked.get("look") and not said["redone"]:
            said["look"] = look(asked["look"])
        if asked.get("ignored"):
            said["ignored"] = ignored(asked["ignored"])
    except Failed as failed:
        said["failed"] = str(failed)
    except (OSError, ValueError) as error:  # somebody took .git away, or put something in its place
        said["failed"] = f"{type(error).__name__}: {error}"
    sys.stdout.write(json.dumps(said))


if __name__ == "__main__":
    main()
