"""Which scope a folder's memories belong to. A project is recognised by its git repository.

Clones of the same remote and all work trees of a clone are one project. A repository without a
remote is known by where it lies, and so is a folder without a repository. Nothing is run for that:
`.git` is read as what it is, files.

Whoever names a scope has no right to it by that. But to the owner of the local file all scopes are
open, so a folder that claims another's remote is taken for a clone of it: do not open folders
that came with a `.git` of somebody else's making.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from metamem.core.access import Scope
from metamem.core.errors import UsageError
from metamem.service.access.names import marked
from metamem.service.access.rights import LOCAL
from metamem.service.writing.fields import Fields

PROJECT = "project"
READ_BYTES = 1_000_000  # of any one file in .git
_SECTION = re.compile(r'\[\s*([A-Za-z0-9.-]+)\s*(?:"((?:[^"\\]|\\.)*)")?\s*\]')
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/?#]*)([^?#]*)")
_COPIED = re.compile(r"(?:[^@/:\s]+@)?(\[[^\]]+\]|[^/:\s]{2,}):(?!//)(.*)")  # scp's form
_USUAL_PORTS = {"ssh": 22, "https": 443, "http": 80, "git": 9418, "git+ssh": 22, "ssh+git": 22}


@dataclass(frozen=True, slots=True)
class Project:
    """A project, and how it was recognised."""

    scope: Scope
    known_by: str  # remote, repository or folder
    identity: str  # what makes it the same project


def project_of(folder: Path, tenant: str = LOCAL) -> Project:
    """The project that a folder belongs to."""
    try:
        start = folder.expanduser().resolve()
        if not start.is_dir():
            raise UsageError(f"there is no folder {folder}")
        common = _common_dir(start)
        remote = _remote(common) if common else ""
    except (OSError, RuntimeError, ValueError) as error:  # loops of links, names with NUL
        raise UsageError(f"the folder {folder} cannot be read: {error}") from None
    if common is not None and remote:
        identity, known_by = _normal(remote, common), "remote"
        # Asked of what it says as it stands: names are in small letters, in which a key is not recognised.
        readable = ".".join(_normal(Fields().text(remote), common).split("/")[-2:])
    elif common is not None:
        identity, known_by = str(common), "repository"
        readable = common.parent.name if common.name == ".git" else common.name
    else:
        identity, known_by, readable = str(start), "folder", start.name
    return Project(Scope(tenant, PROJECT, marked(readable, identity)), known_by, identity)


def normal_remote(url: str) -> str:
    """The same text for all ways to write the same remote: `host/owner/name`, no credentials."""
    url = url.strip()
    address, copied = _ADDRESS.match(url), _COPIED.fullmatch(url)
    if address:
        scheme, host, path = address[1].lower(), address[2].rpartition("@")[2], address[3]
        host = host.removesuffix(f":{_USUAL_PORTS.get(scheme, '')}")
    elif copied:
        host, path = copied[1], copied[2]
    else:
        host, path = "", url
    path = re.sub(r"/+", "/", unquote(path)).strip("/")
    path = path[: -len(".git")] if path.lower().endswith(".git") else path
    return f"{host}/{path.strip('/')}".lower()


def _normal(url: str, common: Path) -> str:
    """Remotes that are folders may be told from where the repository lies."""
    is_path = "://" not in url and not _COPIED.fullmatch(url)
    if not is_path:
        return normal_remote(url)
    root = common.parent if common.name == ".git" else common
    there = (root / Path(url).expanduser()).resolve()
    # The clone of a repository with a work tree may name the tree or its .git.
    return str(there.parent if there.name == ".git" else there).removesuffix(".git")


def _common_dir(start: Path) -> Path | None:
    """The directory that all work trees of a repository share."""
    for folder in (start, *start.parents):
        found = folder / ".git"
        if found.is_dir() and (found / "HEAD").exists():
            return _shared(found)
        if found.is_file():
            pointer = _text(found).strip()
            if pointer.startswith("gitdir:"):
                there = (folder / pointer.removeprefix("gitdir:").strip()).resolve()
                if (there / "HEAD").exists():
                    return _shared(there)
        if all((folder / name).exists() for name in ("HEAD", "objects", "refs", "config")):
            return folder  # a bare one
    return None


def _shared(git_dir: Path) -> Path:
    pointer = git_dir / "commondir"
    if pointer.is_file():
        return (git_dir / _text(pointer).strip()).resolve()
    return git_dir


def _remote(common: Path) -> str:
    """The address of `origin`, or of the first remote by name."""
    config = common / "config"
    if not config.is_file():
        return ""
    remotes: dict[str, str] = {}
    section, name = "", ""
    for line in _text(config).replace("\\\n", "").splitlines():
        line = line.strip()
        header = _SECTION.match(line)
        if header:
            section, name = header[1].lower(), re.sub(r"\\(.)", r"\1", header[2] or "")
            line = line[header.end() :].strip()
        key, equals, value = line.partition("=")
        if section == "remote" and equals and key.strip().lower() == "url":
            remotes.setdefault(name, _value(value))
    found = {n: url for n, url in remotes.items() if url}
    return found.get("origin") or (found[min(found)] if found else "")


def _value(text: str) -> str:
    """A value of git's configuration: comments end it, quotes and backslashes are taken off."""
    kept, quoted, escaped = [], False, False
    for letter in text.strip():
        if escaped:
            kept.append(letter)
            escaped = False
        elif letter == "\\":
            escaped = True
        elif letter == '"':
            quoted = not quoted
        elif letter in "#;" and not quoted:
            break
        else:
            kept.append(letter)
    return "".join(kept).strip()


def _text(file: Path) -> str:
    with file.open("rb") as opened:
        return opened.read(READ_BYTES).decode("utf-8", "replace").replace("\0", "")
