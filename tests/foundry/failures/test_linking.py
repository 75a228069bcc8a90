"""A failure is resolved by a later success of the same intent, and by nothing else."""

from dataclasses import replace

import pytest

from metamem.foundry.failures.linking import Resolved, Unresolved, link
from metamem.foundry.failures.telling import told
from metamem.foundry.words import Trace, Use

NO_HTTPX = "ModuleNotFoundError: No module named 'httpx'"
NO_PLOT = "ModuleNotFoundError: No module named 'plot'"
NO_GO = "main.go:4:2: no required module provides package github.com/foo/bar; to add it:\n\tgo get github.com/foo/bar"
NO_STUBS = 'src/a.py:1: error: Library stubs not installed for "requests"'
NO_TABLE = "E  sqlalchemy.exc.OperationalError: no such table: users\n1 failed"
NO_PACKAGE = "npm ERR! enoent ENOENT: no such file or directory, open '/x/package.json'"
NO_DAEMON = "Cannot connect to the Docker daemon. Is the docker daemon running?"
REJECTED = " ! [rejected] main -> main (fetch first)\nerror: failed to push some refs to 'github.com:x/y.git'"
REFUSED = 'OperationalError: connection to server at "localhost" (127.0.0.1), port 5432 failed: Connection refused'
TAKEN = "Error: listen EADDRINUSE: address already in use :::3000"
NO_MODULE = "/usr/bin/python: No module named pytest"
NOT_SPAWNED = "error: Failed to spawn: `pytest`\n  Caused by: No such file or directory"
MISSING = "/bin/sh: 1: pytest: command not found"


def run(command: str, output: str = "", code: int = 0, **more: str) -> Use:
    return Use("", "Bash", {"command": command}, output, failed=code != 0, exit_code=code, **more)


def script(lines: str) -> str:
    """A script in the line, the most of which is always the same."""
    same = "\n".join(f"print('row {n}', n ** {n})" for n in range(9))
    return f'python3 -c "\n{lines}\n{same}\n"'


def call(tool: str, error: str = "", **arguments: object) -> Use:
    return Use("", tool, arguments, "done", error, failed=bool(error))


def edit(path: str) -> Use:
    return call("Edit", file_path=path, old_string="a", new_string="b")


def linked(*uses: Use) -> list[Resolved | Unresolved]:
    numbered = tuple(replace(use, id=str(place)) for place, use in enumerate(uses))
    return link(Trace("t/project/p", "claude", "s", numbered))


RESOLVED = [
    ("changed", "1", (), [run("pytest -q", MISSING, 127), run("uv run pytest -q", "3 passed")]),
    ("changed", "2", (), [run("npm test", 'Missing script: "test"', 1), run("ls"), run("pnpm test")]),
    ("step", "2", ("1",), [run("python -m app", NO_HTTPX, 1), run("pip install httpx"), run("python -m app")]),
    ("step", "2", ("1",), [run("npm start", "Error: Cannot find module 'koa'", 1), run("npm ci"), run("npm start")]),
    ("step", "2", ("1",), [run("cat x | app", "FileNotFoundError: 'conf/app.toml'", 1),
                           call("Write", file_path="/p/conf/app.toml", content="x"), run("cat x | app")]),
    ("repair", "2", ("1",), [run("pytest", "1 failed, 2 passed", 1), edit("a.py"), run("pytest", "3 passed")]),
    ("repair", "2", ("1",), [run("python a.py", "NameError: name 'x' is not defined", 1), edit("a.py"), run("python a.py")]),
    ("repair", "2", ("1",), [run("mypy .", "a.py:3: error: Name 'x'", 1), run("sed -i s/x/y/ a.py"), run("mypy .")]),
    ("again", "1", (), [run("git fetch", "fatal: timed out", 1), run("git fetch")]),
    ("changed", "1", (), [call("book", "Error: payment does not add up", user_id="u1", flights=[1, 2], paid=3),
                          call("book", user_id="u1", flights=[1, 2], paid=5)]),
    ("changed", "1", (), [call("update", "Error: payment method not found", order_id="o1", payment_id="c_9", items=[1]),
                          call("update", order_id="o1", payment_id="gift_3", items=[1])]),
    ("changed", "1", (), [call("Read", "File does not exist.", file_path="/p/src/a.py"),
                          call("Read", file_path="/p/lib/src/a.py")]),
    ("changed", "1", (), [run(script("import numpy, plot\nplot.it()"), NO_PLOT, 1), run(script("import numpy"))]),
    ("changed", "1", (), [run("cd p && source v/bin/activate && pip install -U pip", "sh: 1: source: not found", 127),
                          run("cd p && . v/bin/activate && pip install -U pip")]),
    ("changed", "1", (), [run("./game.sh 1", "timed out and was killed", 137), run("echo north | ./game.sh 1")]),
    ("changed", "1", (), [run("serve && curl -I localhost", "serve: bind failed: Address already in use", 1),
                          run("serve -s stop && serve && curl -I localhost", "200 OK")]),
    ("changed", "1", (), [run("gcc -o t t.c u.cpp", "ld: undefined reference to `f'", 1), run("g++ -o t t.c u.cpp")]),
    ("repair", "2", ("1",), [run("mkdir -p o && ./tool in.json", "timed out and was killed", 137),
                             run("cc -O2 -o tool tool.c"), run("./tool in.json > o/out.txt")]),
    ("repair", "1", ("1",), [run("diff a.txt b.txt && echo same", "1c1\n< a\n---\n> b", 1),
                             run("printf b > a.txt && diff a.txt b.txt && echo same", "same")]),
    ("step", "2", ("1",), [run("python fetch.py", "Error loading it:\nThe reader needs SentencePiece, which was not found", 1),
                           run("pip install sentencepiece"), run("python fetch.py")]),
    ("changed", "2", (), [call("book", "Error: payment does not add up", user_id="u1", flights=[1, 2], paid=3),
                          call("think", thought="the payment must add up"),
                          call("book", user_id="u1", flights=[1, 2], paid=5)]),
    ("step", "2", ("1",), [call("Edit", "File /p/a.py has not been read yet", file_path="/p/a.py", old_string="x"),
                           call("Read", file_path="/p/a.py"),
                           call("Edit", file_path="/p/a.py", old_string="x")]),
    # What was then needed as well: named by the failures on the way, or made ready in the same way.
    ("step", "4", ("1", "3"), [run("python -m app", NO_HTTPX, 1), run("pip install httpx"), run("python -m app", NO_PLOT, 1),
                               run("pip install plot"), run("python -m app")]),
    ("step", "3", ("1", "2"), [run("python -m app", NO_HTTPX, 1), run("pip install httpx"), run("pip install h2"),
                               run("python -m app")]),
    ("repair", "5", ("1", "2", "3", "4"), [run("python -m app", NO_HTTPX, 1), run("pip install httpx"), run("pip install h2"),
                                           run("pip install h3"), run("pip install h4"), run("python -m app")]),
    ("step", "2", ("1",), [run("make scan", "cc: fatal error: usb.h: No such file or directory", 2),
                           run("apt-get install -y libusb-dev"), run("make scan")]),
    ("changed", "1", (), [run("scan a.png", "sh: 1: scan: not found", 127), run("python tools/scan.py a.png")]),
    # Work on what failed, in the line that then worked or before it.
    ("repair", "1", ("1",), [run("timeout 5 ./tool in.json", "", 124), run("cc -O2 -o tool new.c && ./tool in.json")]),
    ("repair", "2", ("1",), [run("service web start", "Starting web: failed!", 1),
                             run("cat <<'E' > /etc/web/conf.d/site.conf\nlisten 80;\nE"),
                             run("web -t && service web start")]),
    ("repair", "2", ("1",), [run("diff a.txt b.txt", "1c1\n< a\n---\n> b", 1), run("printf b > a.txt"),
                             run("diff a.txt b.txt && echo same", "same")]),
    # A check that could not run, since something that it needs was missing.
    ("step", "2", ("1",), [run("pytest -q", f"E   {NO_HTTPX}\n1 error", 2), run("pip install httpx"), run("pytest -q", "3 passed")]),
    ("step", "2", ("1",), [run("go build ./...", NO_GO, 1), run("go get github.com/foo/bar"), run("go build ./...")]),
    ("step", "2", ("1",), [run("mypy src", NO_STUBS, 1), run("pip install types-requests"), run("mypy src", "Success")]),
    ("step", "2", ("1",), [run("pytest -q", NO_TABLE, 1), run("alembic upgrade head"), run("pytest -q", "1 passed")]),
    ("repair", "3", ("2",), [run("pytest -q", NO_TABLE, 1), run("alembic upgrade head"), edit("a.py"), run("pytest -q", "1 passed")]),
    ("repair", "2", ("1",), [run("npx tsc", "src/a.ts(3,4): error TS2304: Cannot find name 'x'.", 2), edit("/p/src/a.ts"), run("npx tsc")]),
    # What deals with an error that does not name it.
    ("step", "2", ("1",), [run("git push", REJECTED, 1), run("git pull --rebase"), run("git push")]),
    ("step", "2", ("1",), [run("python manage.py migrate", REFUSED, 1), run("docker compose up -d db"), run("python manage.py migrate")]),
    ("step", "2", ("1",), [run("npm start", TAKEN, 1), run("fuser -k 3000/tcp", "3000/tcp: 12"), run("npm start")]),
    ("step", "2", ("1",), [run("npm start", TAKEN, 1), run("kill 4711"), run("npm start")]),
    ("step", "2", ("1",), [run("docker ps", NO_DAEMON, 1), run("systemctl start docker"), run("docker ps")]),
    ("step", "2", ("1",), [run("cargo build", "error: linker `cc` not found", 101), run("apt-get install -y gcc"), run("cargo build")]),
    # Another folder, and the same option with another value.
    ("changed", "1", (), [run("npm test", NO_PACKAGE, 254), run("cd web && npm test", "ok")]),
    ("changed", "1", (), [run("make -j8", "c++: fatal error: Killed signal terminated program cc1plus", 2), run("make -j2")]),
    ("changed", "1", (), [run("rates --all", "error: locked", 1), run("rates --all --workers 1")]),
    ("changed", "1", (), [run("rates --workers 8", "error: locked", 1), run("rates --workers 1")]),
    ("changed", "1", (), [run("load --timeout 10", "timed out", 1), run("load --timeout 60")]),
    ("again", "1", (), [run("load --timeout 30", "timed out and was killed", 137), run("load --timeout 15")]),
    # What a program is run from was made before; the environment that it is in was entered in the line.
    ("changed", "2", ("1",), [run("pip install httpx", "error: externally-managed-environment", 1), run("python3 -m venv .venv"), run(".venv/bin/pip install httpx")]),
    ("changed", "3", ("1", "2"), [run("pytest -q", MISSING, 127), run("python3 -m venv .venv"), run(".venv/bin/pip install pytest"), run(".venv/bin/pytest -q", "1 passed")]),
    ("changed", "2", (), [run("pytest -q", MISSING, 127), run("ls .venv/bin", "pytest"), run(".venv/bin/pytest -q", "1 passed")]),
    ("changed", "1", (), [run("pytest -q", MISSING, 127), run("source .venv/bin/activate && pytest -q", "1 passed")]),
    ("changed", "1", (), [run("pytest -q", f"E   {NO_HTTPX}\n1 error", 2), run(". .venv/bin/activate && pytest -q", "1 passed")]),
    ("changed", "1", (), [run("pytest -q", f"E   {NO_HTTPX}\n1 error", 2), run("pip install httpx && pytest -q", "1 passed")]),
    ("changed", "1", (), [run("python a.py", "KeyError: 'API_URL'", 1), run("export API_URL=http://localhost && python a.py")]),
    ("changed", "1", (), [run("source env && make", "/bin/sh: 1: source: not found", 127), run(". env && make")]),
    ("changed", "1", (), [run("curl -sf http://x.io/api/user", "curl: (22) The requested URL returned error: 404", 22), run("curl -sf http://x.io/api/users")]),
    # The same program by way of another that runs it, and one that is not there in whatever words a shell says so.
    ("changed", "1", (), [run("python -m pytest tests", NO_MODULE, 1), run("uv run --extra dev pytest tests", "3 passed")]),
    ("changed", "1", (), [run("python -m pytest -q", NO_MODULE, 1), run(".venv/bin/pytest -q", "3 passed")]),
    ("changed", "2", ("1",), [run("python -m pytest", NO_MODULE, 1), run("pip install pytest"), run("pytest", "3 passed")]),
    ("changed", "1", (), [run("uv run pytest -q", "bash: uv: command not found", 127), run("python -m pytest -q", "3 passed")]),
    ("changed", "1", (), [run("uv run pytest -q", NOT_SPAWNED, 2), run("poetry run pytest -q", "3 passed")]),
    ("step", "2", ("1",), [run("uv run pytest -q", NOT_SPAWNED, 2), run("uv add --dev pytest"), run("uv run pytest -q")]),
    ("changed", "1", (), [run("pytest -q", "(eval):1: command not found: pytest", 127), run("uv run pytest -q", "3 passed")]),
    ("changed", "1", (), [run("pytest -q", MISSING, 127), run("docker compose run --rm web pytest -q", "3 passed")]),
    ("changed", "1", (), [run("./scan.sh a", "bash: ./scan.sh: Permission denied", 126), run("bash scan.sh a")]),
    ("changed", "1", (), [run("scan --help", "scan: error: no input", 2), run("man scan", "SCAN(1)")]),
    # A task of the project that is seen to run it.
    ("changed", "1", (), [run("pytest -q", MISSING, 127), run("make test", ".venv/bin/python -m pytest tests\nok")]),
    ("changed", "1", (), [run("python -m pytest", NO_MODULE, 1), run("make test", "==== 3 passed, 1 skipped in 0.12s ====")]),
    ("changed", "2", ("1",), [run("pytest", MISSING, 127), run("pip install -r requirements-dev.txt"), run("make test", "pytest\n3 passed")]),
    ("changed", "1", (), [run("pytest tests/a.py", MISSING, 127), run("tox", "py311: commands[0]> pytest -q tests/a.py\nok")]),
    ("changed", "1", (), [run("jest", "jest: command not found", 127), run("npm test", "> shop@1.0.0 test\n> jest --ci\n")]),
    ("changed", "1", (), [run("ruff check .", "ruff: command not found", 127), run("make lint 2>&1 | tail -5", "ruff check src\nAll passed")]),
    ("step", "2", ("1",), [run("make test", "make: pytest: No such file or directory", 2), run("make setup"), run("make test")]),
    # The same commands where they do not deal with it.
    ("again", "1", (), [run("npm start", "Error: no config", 1), run(". ./env.sh && npm start", "ok")]),
    ("again", "1", (), [run("python a.py", "KeyError: 'API_URL'", 1), run("export DEBUG=1 && python a.py")]),
    ("again", "2", (), [run("python manage.py migrate", REFUSED, 1), run("docker compose up -d redis"), run("python manage.py migrate")]),
    ("again", "2", (), [run("python manage.py migrate", REFUSED, 1), run("docker compose ps"), run("python manage.py migrate")]),
    ("again", "2", (), [run("npm start", TAKEN, 1), run("fuser -k 8080/tcp"), run("npm start")]),
    ("again", "2", (), [run("npm start", "Error: no config", 1), run("kill 4711"), run("npm start")]),
    ("again", "2", (), [run("git push", "fatal: unable to access it: timed out", 128), run("git pull --rebase"), run("git push")]),
    ("again", "2", (), [run("cargo fetch", "error: linker `cc` not found", 101), run("apt-get install -y curl"), run("cargo fetch")]),
    ("again", "2", (), [run("python app.py", "no such table: users", 1), run("alembic history"), run("python app.py")]),
    ("again", "1", (), [run("npm start", "Error: no config", 1), run("cd web && npm start", "ok")]),
    # Less or more said, and another time.
    ("again", "2", (), [run("conda create -y", "timed out and was killed", 137), edit("notes.md"), run("conda create -y --quiet")]),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "by", "steps", "uses"), RESOLVED)
def test_what_resolves(kind: str, by: str, steps: tuple[str, ...], uses: list[Use]) -> None:
    found, *_ = linked(*uses)
    assert isinstance(found, Resolved)
    assert (found.kind, found.by.id, tuple(step.id for step in found.steps)) == (kind, by, steps)
    assert found.trajectory[-1].came == "worked"


@pytest.mark.parametrize(
    "uses",
    [
        [run("pytest -q", MISSING, 127), run("git status", "clean")],
        [run("pytest tests/a.py", "1 failed", 1), run("pytest tests/b.py")],
        [run("pytest tests/a.py", "1 failed", 1), run("pytest tests/a.py -k other")],
        [run("curl -f https://x.io/a", "returned error: 404", 22), run("curl -f https://y.io/b")],
        [call("Read", "File does not exist.", file_path="/p/a.py"), call("Read", file_path="/p/b.py")],
        [call("get_issue", "issue not found", repo="r", number=1), call("get_issue", repo="r", number=2)],
        [call("book", "Error: no seats", user_id="u1", seats=2), call("book", user_id="u2", seats=2)],
        # What fails was left out.
        [call("book", "Error: no seats on B", user_id="u1", flights=["A", "B"]), call("book", user_id="u1", flights=["A"])],
        [run("pip install notebook", "timed out and was killed", 137), run("pip install --no-deps notebook")],
        [run("diff a.txt b.txt", "1c1\n< a\n---\n> b", 1), run("diff a.txt c.txt")],
        [call("Edit", "String to replace not found", file_path="a.py", old_string="x" * 40),
         call("Edit", file_path="a.py", old_string="something else entirely, elsewhere")],
        [run("make", "it failed", 2), run("make", "it failed", 2)],
        # Another script, a part of the line, something that was only looked at, asked or begun.
        [run(script("import torch"), "ModuleNotFoundError: No module named 'torch'", 1), run("python -c 'print(1)'")],
        [run("cat <<'E' > a.py\nimport x\nE\npython a.py", "ImportError: x", 1), run("cat <<'E' > b.py\nE\npython b.py")],
        [run("mkdir -p m && pip install torch", "timed out and was killed", 137), run("mkdir -p m")],
        [run("./tool", "sh: ./tool: Exec format error", 126), run("od -x ./tool", "0000 7f45")],
        [run("tool --list x", "timed out", 137), run("tool -o y x")],
        [run("tool -t", "tool: test failed", 1), run("tool -s stop")],
        [run("python --version && python -c 'import a; a.b'", "AttributeError: no b", 1), run("python a.py")],
        [run("python train.py", "timed out and was killed", 137), run("nohup python train.py &")],
        [run("python train.py", "timed out and was killed", 137), run("python train.py 2")],
        # What a check found is not mended by what is installed, nor by what it does not lack.
        [run("pytest -q", f"E   {NO_HTTPX}\n1 error", 2), run("pip install yarl"), run("pytest -q", "3 passed")],
        [run("pytest -q", "E  AssertionError: assert 1 == 2\n1 failed", 1), run("pip install httpx"), run("pytest -q", "1 passed")],
        [run("pytest -q", f"E   {NO_HTTPX}\n1 error", 2), run("pip install yarl && pytest -q", "3 passed")],
        [run("pytest -q", "E  AssertionError: assert 1 == 2\n1 failed", 1), run(". .venv/bin/activate && pytest -q", "1 passed")],
        # No program, and nothing else that does what it was to do.
        [run("rg total src", "bash: line 1: rg: command not found", 127), run("ls src", "cart.py")],
        [run("curl -sf http://x.io/api/user", "curl: (22) The requested URL returned error: 404", 22), run("curl -sf http://x.io/health")],
        [run("curl -sf http://x.io/api/user", "curl: (22) The requested URL returned error: 403", 22), run("curl -sf http://x.io/api/users")],
        [run("go build ./...", "main.go:4:2: undefined: foo", 1), run("go get github.com/foo/bar"), run("go build ./...")],
        [run("mypy src", "src/a.py:3: error: Name 'requests' is not defined", 1), run("pip install types-requests"), run("mypy src")],
        [run("pytest -q", NO_TABLE, 1), run("alembic upgrade head"), run("pytest -q -k other", "1 passed")],
        # What only speaks of a program, or is another one with a name like it.
        [run("pytest", MISSING, 127), run("whereis pytest", "pytest:")],
        [run("pytest", MISSING, 127), run("man pytest", "PYTEST(1)")],
        [run("pytest", MISSING, 127), run("jest", "3 passed")],
        [run("mypy src", "mypy: command not found", 127), run("git add mypy src")],
        [run("pytest -q", MISSING, 127), run("uv run ruff check", "All checks passed!")],
        # A task of which nobody sees that it runs it, on the same target, and whether that worked.
        [run("pytest -q", MISSING, 127), run("make test", "ok")],
        [run("pytest -q", MISSING, 127), run("make lint", "ruff check .\nAll checks passed!")],
        [run("pytest -q", MISSING, 127), run("npm test", "> jest\nTest Suites: 3 passed, 3 total")],
        [run("pytest -q", MISSING, 127), run("make -n test", "pytest -q")],
        [run("pytest -q", MISSING, 127), run("make test", "echo pytest -q\npytest -q")],
        [run("pytest -q", MISSING, 127), run("make test", "# pytest -q\nskipped")],
        [run("pytest", MISSING, 127), run("uv run pytest --version", "pytest 8.0.0")],
        [run("python manage.py migrate", "Error: 1", 1), run("uv run python manage.py migrate --help", "usage")],
        [run("pytest -q", MISSING, 127), run("make test", "pytest -q || true\nsh: 1: pytest: not found")],
        [run("pytest -q", MISSING, 127), run("make test", "pytest -q\nmake: [Makefile:2: test] Error 127 (ignored)")],
        [run("pytest -q", MISSING, 127), run("make test; echo done", "pytest -q\ndone")],
        [run("pytest tests/a.py", MISSING, 127), run("make test", "pytest tests/b.py\n3 passed in 0.1s")],
        [run("pytest tests/a.py", MISSING, 127), run("make test", "3 passed in 0.1s")],
        [run("pytest -q", MISSING, 127), run("cat test.log", "pytest -q\n3 passed in 0.1s")],
        [run("pytest -q", "1 failed in 0.1s", 1), run("make test", "pytest -q\n3 passed in 0.1s")],
        # Another target beside another value of an option.
        [run("make -j8", "it was killed", 2), run("make -j2 docs")],
        [run("rates --all", "error: locked", 1), run("rates --all stop")],
        [run("rates --all", "error: locked", 1), run("rates --workers 1")],
        [run("gh pr view --web 12", "no pull request was found", 1), run("gh pr view --web 13")],
        # What ended well and yet did not.
        [run("python a.py", "KeyError: 1", 1), run("python a.py || echo 'it is not so'", "it is not so")],
        [run("python a.py", "KeyError: 1", 1), run("python a.py", "Traceback (most recent call last):\nKeyError: 1")],
        [run("sim -x", "timed out", 137), run("timeout 3 sim -x | head -3", "sim> sim>")],
        [run("pytest -q", MISSING, 127, group="g"), run("uv run pytest -q", group="g")],
        [run("pytest -q", MISSING, 127), run("uv run pytest -q", agent="helper")],
    ],
)  # fmt: skip
def test_what_resolves_nothing(uses: list[Use]) -> None:
    assert linked(*uses) and all(isinstance(found, Unresolved) for found in linked(*uses))


def test_an_unlike_script_is_another_intent() -> None:
    failed = run(script("import plot"), NO_PLOT, 1)
    assert isinstance(linked(failed, run(script("import numpy")))[0], Resolved)
    assert isinstance(linked(failed, run("python3 -c 'import numpy'"))[0], Unresolved)


@pytest.mark.parametrize(
    "use",
    [
        call("Bash", "The user doesn't want to proceed with this tool use.", command="rm x"),
        call("Bash", "[Request interrupted by user for tool use]", command="make"),
        run("grep foo bar.py", "", 1),
        run("ls nothing", "ls: cannot access 'nothing': No such file or directory", 2),
        run("make"),
        run("play 1 | grep -E 'hit|moved'", "", 1),
        run("which od hexdump", "/usr/bin/od", 1),
        Use("", "Bash", {"command": "make"}, "who knows"),
    ],
)
def test_what_is_no_failure(use: Use) -> None:
    assert linked(use, run("make")) == []


def test_a_push_that_a_server_rejects_is_one() -> None:
    first, second = linked(
        run("git push origin main", " ! [rejected] main -> main (fetch first)", 1),
        run("git push --dry origin main", "error: unknown option `dry'", 129),
        run("git pull --rebase origin main"),
        run("git push origin main"),
    )
    assert isinstance(first, Resolved) and isinstance(second, Resolved)
    assert [(a.use, a.came) for a in first.trajectory] == [("1", "failed"), ("3", "worked")]
    assert first.by.id == second.by.id == "3"
    assert first.signature != second.signature


def test_steps_begun_with_the_success_do_not_explain_it() -> None:
    uses = [
        run("python -m app", NO_HTTPX, 1),
        run("pip install httpx", group="g"),
        run("python -m app", group="g"),
    ]
    (found,) = linked(*uses)
    assert isinstance(found, Resolved) and found.kind == "again"


def test_other_failures_on_the_way_are_told() -> None:
    (first, _) = linked(
        run("python -m app", NO_HTTPX, 1),
        run("pip install httpx"),
        run("python -m app", "OSError: No space left on device", 1),
        edit("app.py"),
        run("python -m app"),
    )
    assert isinstance(first, Resolved) and not first.straight
    assert told(first) == (
        "`pip install httpx`, then the same call, in the end, after other failures"
    )


@pytest.mark.parametrize(
    ("uses", "text"),
    [
        ([run("npm test", NO_PACKAGE, 254), run("cd web && npm test", "ok")], "`cd web && npm test`"),
        ([run("git push", REJECTED, 1), run("git pull --rebase"), run("git push")],
         "`git pull --rebase`, then the same call"),
        ([run("npm start", TAKEN, 1), run("fuser -k 3000/tcp"), run("npm start")],
         "`fuser -k 3000/tcp`, then the same call"),
        # The process of another machine has another number, and programs of a name may be somebody else's.
        ([run("npm start", TAKEN, 1), run("kill 4711"), run("npm start")], ""),
        ([run("npm start", TAKEN, 1), run("kill -9 4711"), run("npm start")], ""),
        ([run("npm start", TAKEN, 1), run("pkill -f node"), run("npm start")], ""),
    ],
)  # fmt: skip
def test_what_is_told_of_folders_and_of_what_was_stopped(uses: list[Use], text: str) -> None:
    (found,) = linked(*uses)
    assert isinstance(found, Resolved) and told(found) == text
