"""What a coding agent runs: it asks the daemon for context, or notes that a transcript has grown.

    python -I -S metamem_hook.py KIND HOST FOLDER < the host's JSON

KIND is `capture`, or what the daemon is asked for: `briefing`, `start` (when a session starts; both:
`briefing+start`), `recall`, `prompt` (likewise), `before` or `after` (a tool). It never disturbs its host: it
always ends with 0, says nothing unless it has something to say, and keeps to a deadline of its own
whether the daemon answers, hangs or is not there. The host's JSON goes to the daemon over a socket and
to no file. Of a capture and of tools only a pointer is kept, in FOLDER/spool: which session has grown, and
where. What may be a secret in it stands there as a digest, and the service finds the file that it means.

It starts often and must start quickly, so it stands alone and imports nothing that the interpreter
does not have built in or at hand: no json, no socket, no os.
"""

import _socket
import posix
import sys

ANSWER_SECONDS = 0.3  # to wait for what the host is to be told
TOOL_SECONDS = 0.02  # the same around a tool: there are many, and each waits for its hook
START_SECONDS = 20  # before somebody else may try to start the daemon
STDIN_SECONDS = 1.0  # for a host that never ends its input
MOST = 4_000_000  # bytes of input
LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
DIGITS = frozenset("0123456789")
BETWEEN = frozenset("-_./")
# How secrets begin that may have no long run of letters and digits in them.
BEGINNINGS = (
    "1//0", "aiza", "amzn", "atatt3", "atctt3", "card", "carte", "ctx7sk", "dckr_pat_", "dp.", "eyj", "figd_", "flyv1",
    "fo1_", "github_pat_", "glagent-", "glcbt-", "gldt-", "glpat-", "glptt-", "glrt-", "glsoat-", "gocspx-", "hrku-",
    "hvb.", "hvr.", "hvs.", "k_live_", "k_test_", "karte", "nvapi-", "pscale_", "pypi-", "sg.", "sk-admin-", "sk-ant-",
    "sk-lf-", "sk-none-", "sk-or-", "sk-proj-", "sk-svcacct-", "sntry", "sq0", "tarjeta", "tgp_v1_", "tskey-", "visa",
    "whsec_", "xapp-", "xox", "xwfp-", "ya29.",
)  # fmt: skip
HIDDEN = "\1"  # how a digest in the place of a text begins


def main(kind: str, host: str, folder: str) -> None:
    alarm = __import__("_signal")
    alarm.signal(alarm.SIGALRM, lambda *_: posix._exit(0))
    alarm.setitimer(alarm.ITIMER_REAL, STDIN_SECONDS)
    given = read()
    alarm.setitimer(alarm.ITIMER_REAL, 0)
    posix.chdir(folder)  # names in it are short enough for a socket, wherever it is
    if kind == "capture":
        spool(host, given)
        nudge()
    elif kind in ("before", "after"):
        spool(host, given)
        tell(kind, host, given, TOOL_SECONDS)
    else:
        tell(kind, host, given, ANSWER_SECONDS)


def read() -> bytes:
    """The input, to its end: a host must not find its pipe closed. What is too much is dropped."""
    parts, size = [], 0
    while part := posix.read(0, 1 << 16):
        if size < MOST:
            parts.append(part)
            size += len(part)
    return b"".join(parts)


def connected(seconds: float) -> _socket.socket | None:
    """A socket to the daemon, or None; then it is started for the next time."""
    channel = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    channel.settimeout(seconds)
    try:
        channel.connect("socket")
    except BlockingIOError:
        return None  # it is there, and too busy
    except OSError:
        start()
        return None
    return channel


def tell(kind: str, host: str, given: bytes, seconds: float) -> None:
    """Print what the daemon has to say, if it says it in time."""
    import time

    until = time.monotonic() + seconds
    channel = connected(seconds)
    if channel is None:
        return
    channel.sendall(f"{kind} {host} {len(given)}\n".encode() + given)
    answer = b""
    while not answer.endswith(b"\0"):  # which says that it is whole
        left = until - time.monotonic()
        if left <= 0:
            return
        channel.settimeout(left)
        part = channel.recv(1 << 16)
        if not part:
            return
        answer += part
    answer = answer[:-1]
    while answer:
        answer = answer[posix.write(1, answer) :]


def spool(host: str, given: bytes) -> None:
    """Keep a pointer to the session. Another one of the same session and file takes its place."""
    import binascii

    fields = parsed(given)
    pointer, session = [host], ""
    for name in ("session_id", "transcript_path", "cwd", "hook_event_name"):
        value = fields.get(name)
        value = value if isinstance(value, str) else ""
        if name == "session_id":
            session = value
        pointer.append(value if plain(value) else digest(value))
    if not session and not pointer[2]:
        return
    if not session or len(session) > 100 or "/" in session or not plain(session):
        session = f"{binascii.crc32(repr(pointer[1:3]).encode('utf-8', 'replace')):08x}"
    file = f"{binascii.crc32(pointer[2].encode('utf-8', 'replace')):08x}"
    data = "\0".join(pointer).encode("utf-8", "surrogateescape")
    if len(data) > 20_000:
        return
    name = f"spool/{host}.{session}.{file}"
    draft = f"{name}.{posix.getpid()}.draft"
    opened = posix.open(draft, posix.O_WRONLY | posix.O_CREAT | posix.O_TRUNC, 0o600)
    try:
        posix.write(opened, data)
    finally:
        posix.close(opened)
    posix.rename(draft, f"{name}.pointer")


def plain(value: str) -> bool:
    """Whether no secret shows in it, as far as can be told in no time: words, dates, ids whose runs
    of letters and digits are short."""
    low, run = value.lower(), ""
    for beginning in BEGINNINGS:
        if beginning in low:
            return False
    for sign in f"{value}/":
        if sign in LETTERS or sign in DIGITS:
            run += sign
        elif sign in BETWEEN:
            word = LETTERS.issuperset(run) and not run.isupper()
            if len(run) > (18 if word else 12):  # the longest name of an event has 18
                return False
            run = ""
        else:
            return False
    return True


def digest(value: str) -> str:
    try:
        from _blake2 import blake2b
    except ImportError:
        from hashlib import blake2b
    data = value.encode("utf-8", "surrogateescape")
    return HIDDEN + blake2b(data, digest_size=16).hexdigest()


class Scanning:
    """What the interpreter's own scanner of JSON wants to be told."""

    def __init__(self) -> None:
        self.strict = False
        self.memo: dict[str, str] = {}
        self.object_hook = self.object_pairs_hook = None
        self.parse_float, self.parse_int, self.parse_constant = float, int, float


def parsed(given: bytes) -> dict[str, object]:
    """The host's JSON object."""
    text = given.decode("utf-8", "surrogateescape").strip()
    try:
        value = __import__("_json").make_scanner(Scanning())(text, 0)[0]
    except ImportError:
        import json

        value = json.loads(text)
    return value if isinstance(value, dict) else {}


def nudge() -> None:
    """Let the daemon know, without waiting for it."""
    channel = connected(0)
    if channel is not None:
        channel.send(b"look - 0\n")


def start() -> None:
    """Start the daemon, and go on. Whoever else finds it missing meanwhile leaves it be."""
    import time

    try:
        if time.time() - posix.stat("starting").st_mtime < START_SECONDS:
            return
    except FileNotFoundError:
        pass
    file = posix.open("start", posix.O_RDONLY)
    command = posix.read(file, 1 << 16).split(b"\0")
    posix.close(file)
    posix.close(posix.open("starting", posix.O_WRONLY | posix.O_CREAT | posix.O_TRUNC, 0o600))
    nothing = b"/dev/null"
    posix.posix_spawn(
        command[0],
        command,
        posix.environ,
        file_actions=[
            (posix.POSIX_SPAWN_OPEN, 0, nothing, posix.O_RDONLY, 0),
            (posix.POSIX_SPAWN_OPEN, 1, nothing, posix.O_WRONLY, 0),
            (posix.POSIX_SPAWN_OPEN, 2, nothing, posix.O_WRONLY, 0),
        ],
        setsid=True,
    )


if __name__ == "__main__":
    try:
        main(*sys.argv[1:4])
    except BaseException:
        pass
    finally:
        # At once: nothing that the interpreter does at its end is needed, and none of it may fail.
        posix._exit(0)
