"""What a hook wrote down as a digest, found again.

A pointer lies on the disk until the daemon has read what it means, which is long where the daemon is not
there. So a hook, which has no time to look for secrets by their rules, keeps of a path or an id that is
not plainly harmless its digest alone. The file is found by it among those that hosts spoke of while this
process was there, and in the folders where hosts keep their sessions.
"""

from collections import OrderedDict
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from threading import Lock

from metamem.service.importing import claude, codex, gemini, opencode

MARK = "\1"  # how a digest in the place of a text begins
FILES = 2000  # that are remembered
_FILES = {claude.HOST: claude.files, codex.HOST: codex.files, gemini.HOST: gemini.files}
_BEFORE_ID = len("rollout-2026-08-01T10-00-00-")  # in the names of files of Codex


def is_digest(text: str) -> bool:
    return text.startswith(MARK)


def digest(text: str) -> str:
    """As the hook makes them."""
    return MARK + blake2b(text.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()


class Hidden:
    """Files and ids by their digests, for the life of a process."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._files: OrderedDict[str, Path] = OrderedDict()

    def heard(self, transcript: str) -> None:
        """A host spoke of a file."""
        if transcript:
            with self._lock:
                self._files[digest(transcript)] = Path(transcript)
                while len(self._files) > FILES:
                    self._files.popitem(last=False)

    def file(self, host: str, transcript: str) -> Path | None:
        """The file that a pointer names, as itself or by a digest."""
        if not is_digest(transcript):
            return Path(transcript)
        with self._lock:
            known = self._files.get(transcript)
        if known is not None:
            return known
        return next((path for path in _files(host) if digest(str(path)) == transcript), None)

    def named(self, host: str, session: str) -> Path | None:
        """The file that is named as a session is."""
        if not is_digest(session):
            return next((path for path in _files(host) if session in path.name), None)
        for path in _files(host):
            name = path.name.split(".")[0]
            if session in (digest(name), digest(name[_BEFORE_ID:])):
                return path
        return None

    def session(self, file: Path, session: str) -> str:
        """The id of a session in a file that holds several."""
        if not is_digest(session):
            return session
        return next((r.id for r in opencode.sessions(file) if digest(r.id) == session), "")


def _files(host: str) -> Iterator[Path]:
    yield from _FILES[host]() if host in _FILES else (opencode.home() / opencode.FILE,)
