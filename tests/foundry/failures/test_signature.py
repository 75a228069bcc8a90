"""A failure's name stays the same whatever differs by chance, and changes with what it is about."""

import json
import string
from datetime import datetime

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from metamem.foundry.failures.signature import LONGEST, Signature, signature
from metamem.foundry.words import Use
from tests.foundry.failures.made import run
from tests.foundry.failures.statuses import NO_STATUSES, STATUSES


def shell(command: str, output: str, code: int | None = 1) -> Signature:
    return signature(
        Use("u", "Bash", {"command": command}, error=output, failed=True, exit_code=code)
    )


# What one run has and another has not.
NUMBERS = st.integers(0, 10**9)
HEX = (
    st.integers(16**7, 16**12)
    .map(lambda n: f"{n:x}")
    .filter(lambda h: any(c.isdigit() for c in h) and any(c.isalpha() for c in h))
)
NAMES = st.text(string.ascii_lowercase + string.digits, min_size=1, max_size=8)
FOLDERS = st.one_of(
    NAMES.map(lambda n: f"/tmp/{n}"),
    NAMES.map(lambda n: f"/private/tmp/{n}/pytest-of-me"),
    NAMES.map(lambda n: f"/var/tmp/{n}"),
)
TIMES = st.datetimes(datetime(2000, 1, 1), datetime(2049, 12, 31)).map(datetime.isoformat)


def a_run(folder: str, line: int, number: int, hashed: str, when: str) -> dict[str, Signature]:
    """Failures of one run, by what they are."""
    trace = (
        f'{when} Traceback (most recent call last):\n  File "{folder}/x.py", line {line}, in f\n'
    )
    return {
        "module": shell(f"cd {folder} && python x.py", trace + "ModuleNotFoundError: No module named 'requests'"),
        "file": shell("python x.py", trace + f"FileNotFoundError: [Errno 2] No such file or directory: '{folder}/data.csv'"),
        "memory": shell("./serve", f"panic: bad object at 0x{number:x} after {number}ms"),
        "status": shell(f"curl -f https://x.io/{number}", f"curl: (22) https://x.io/u/{number} returned error: 404"),
        "commit": shell("git cherry-pick x", f"error: could not apply {hashed}... message"),
        "compiler": shell("cc x.c", f"{folder}/x.c:{line}:{line + 1}: error: expected ';' before '}}' token"),
        "tool": signature(Use("u", "Fetch", {"n": number}, error=f"[{when}] request {hashed} failed: quota of {number} used up")),
        "port": shell("serve", f"connect to 127.0.0.1:{1024 + number % 60000} failed: Connection refused"),
    }  # fmt: skip


@given(
    *(st.tuples(FOLDERS, st.integers(1, 99999), NUMBERS, HEX, TIMES) for _ in range(2)),
)
def test_what_differs_by_chance_does_not_matter(one: tuple, other: tuple) -> None:
    first = a_run(*one)
    assert first == a_run(*other)
    assert len({found.id for found in first.values()}) == len(first)


@given(st.text(string.ascii_lowercase, min_size=1, max_size=12), st.text(max_size=400))
def test_a_home_is_nobodys(name: str, anything: str) -> None:
    def of(home: str) -> Signature:
        return shell("make", f"cp: cannot stat '{home}/p/config.toml': No such file or directory")

    assert of(f"/home/{name}") == of("/Users/other") == of("/root") == of("~")
    found = shell(
        anything, anything
    )  # whatever comes, there is a short answer, and always the same
    assert found == shell(anything, anything) and len(found.detail) <= LONGEST


STATUS = st.integers(400, 599)


@given(STATUS, STATUS)
def test_statuses_tell_failures_apart(one: int, other: int) -> None:
    assume(one != other)
    forms = [
        "curl: (22) The requested URL returned error: {}",
        "requests.exceptions.HTTPError: {} Client Error: for url: https://x.io/a",
        "HTTP/1.1 {} Something",
        '{{"error": "it did not go", "status": {}}}',
    ]
    for form in forms:
        assert shell("get", form.format(one)).id != shell("get", form.format(other)).id
        assert shell("get", form.format(one)).status == one


MODULES = st.from_regex(r"[g-z][a-z]{2,10}(_[g-z]+)?", fullmatch=True)


@given(MODULES, MODULES)
def test_symbols_tell_failures_apart(one: str, other: str) -> None:
    assume(one != other)
    for form in (
        "ModuleNotFoundError: No module named '{}'",
        "NameError: name '{}' is not defined",
        "bash: line 1: {}: command not found",
        "error: unrecognized arguments: --{}",
        "FileNotFoundError: [Errno 2] No such file or directory: 'conf/{}'",
        "make: *** No rule to make target '{}'.  Stop.",
    ):
        assert shell("x", form.format(one)).id != shell("x", form.format(other)).id


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (shell("git push", "fatal: no"), shell("git pull", "fatal: no")),
        (shell("npm test", "it failed"), shell("npm start", "it failed")),
        (shell("python -m a", "it failed"), shell("python -m b", "it failed")),
        (shell("uv run pytest", "it failed"), shell("pytest", "it failed")),
        (shell("x", "it failed", 1), shell("x", "it failed", 2)),
        (shell("x", "ValueError: bad"), shell("x", "TypeError: bad")),
        (shell("x", "error TS2304: bad name"), shell("x", "error TS2305: bad name")),
        (shell("x", "error[E0425]: bad"), shell("x", "error[E0433]: bad")),
        (signature(Use("u", "Read", {}, error="gone")), signature(Use("u", "Edit", {}, error="gone"))),
    ],
)  # fmt: skip
def test_what_it_is_about_matters(one: Signature, other: Signature) -> None:
    assert one.id != other.id and one.text != other.text


@pytest.mark.parametrize(
    ("command", "output", "text"),
    [
        ("cd app && python -m srv 2>&1 | tail -5", "ModuleNotFoundError: No module named 'yaml'",
         "python -m srv: ModuleNotFoundError: No module named 'yaml' (exit 1)"),
        ("export A=1; sudo docker compose up -d", "permission denied while trying to connect",
         "docker compose up: permission denied while trying to connect (exit 1)"),
        ("cat > x.py <<'EOF'\nimport a; b | c\nEOF\npython x.py", "KeyError: 'id'",
         "python: KeyError: 'id' (exit 1)"),
        ("false", "", "false: failed (exit 1)"),
        ("PGPASSWORD=[secret: password] psql -c 'select 1'", "FATAL: no such role", "psql: FATAL: no such role (exit 1)"),
    ],
)  # fmt: skip
def test_it_reads_well(command: str, output: str, text: str) -> None:
    assert shell(command, output).text == text


def test_a_tool_of_ours_fails_alike_in_every_run() -> None:
    told = "step 1: Read: done\nstopped: step 3 (Edit): CHANGELOG.md: the text to be replaced is there 0 times\nleft"
    run = "bump: failed with exit code 1 in 0.{0} s (run w1a1f4485638a6c2cd1c22d88d{0}7)"
    first, other = (
        shell("metamem tool bump --json '{}'", f"{told}\n{run.format(n)}") for n in (3, 6)
    )
    assert first == other and "stopped: step # (Edit)" in first.text
    asked = [
        signature(Use("u", "mcp__m__tool_bump", {}, error=f"{run.format(n)}\n{told}"))
        for n in (3, 6)
    ]
    assert asked[0] == asked[1] and "stopped: step # (Edit)" in asked[0].text


def test_shells_are_one_tool_and_an_answer_in_json_is_read() -> None:
    given = {"command": ["bash", "-lc", "foo a"]}
    said = "foo: command not found"
    codex = signature(Use("u", "shell", given, result=said, exit_code=127))
    assert codex == shell("foo a", said, 127)
    assert shell("foo a", f"{said}\nProcess exited with code 127", None).exit_code == 127
    answer = {"error": {"message": "no such user u_12345", "code": 404}}
    found = signature(Use("u", "get_user", {}, result=json.dumps(answer)))
    assert (found.status, found.detail) == (404, "no such user u_# (status: #)")


@pytest.mark.parametrize("said", ["Exit code 128", "Process exited with code 128"])
def test_an_exit_code_is_no_status_of_http(said: str) -> None:
    found = shell("git commit -m x", f"{said}\nfatal: unable to auto-detect email address", 128)
    assert (found.status, found.exit_code) == (None, 128)
    assert shell("curl x", "error code: 404", 22).status == 404


@pytest.mark.parametrize("remark", ["note", "warning"])
def test_remarks_before_an_error_do_not_name_it(remark: str) -> None:
    error = "x.c:4:5: error: expected ';' before 'return'"
    before = f"x.c:3:10: {remark}: each one is reported only once, or was not found\n"
    assert shell("cc x.c", before + error) == shell("cc x.c", error)
    assert "reported only once" in shell("cc x.c", before).detail  # where nothing else is said


def said_with(phrasing: str, number: int) -> Signature:
    text = phrasing.replace("{}", str(number)).replace("{{", "{").replace("}}", "}")
    return shell("run", text)


@pytest.mark.parametrize("phrasing", STATUSES)
def test_a_status_is_read_however_it_is_said(phrasing: str) -> None:
    for one, other in ((404, 403), (500, 429), (401, 503)):
        first, second = said_with(phrasing, one), said_with(phrasing, other)
        assert (first.status, second.status) == (one, other)
        assert first.id != second.id


@pytest.mark.parametrize("phrasing", NO_STATUSES)
def test_numbers_that_are_no_status_do_not_matter(phrasing: str) -> None:
    first, *others = (said_with(phrasing, number) for number in (404, 403, 500, 429))
    assert first.status is None
    assert all(other == first for other in others)


def test_numbers_that_no_status_has_are_none() -> None:
    for phrasing in (
        "Request failed: {}",
        "Error {}",
        "({}) error",
        "GET /a {}",
        "upstream returned {}",
    ):
        assert said_with(phrasing, 404).status == 404
        assert [said_with(phrasing, n).status for n in (99, 204, 433, 470, 590, 4040)] == [None] * 6


def test_what_is_told_of_a_failure_has_no_holes_where_numbers_were() -> None:
    named = signature(run("pytest -q", "bash: line 1: pytest: command not found", 127))
    assert named.text == "pytest: bash: pytest: command not found (exit 127)"
