"""One project to repair: the agent looks, edits, runs commands, and submits."""

from collections.abc import Callable

from metamem.core.types import Observation
from metamem.domains.coding import looking
from metamem.domains.coding.actions import HELP, Action, ActionError, parse
from metamem.domains.coding.scoring import score
from metamem.domains.coding.tasks import Project
from metamem.domains.coding.workbench import Workbench

MAX_STEPS = 30
MOST_FILE_CHARS = 1_000_000


class CodingWorld:
    """Every action is answered in words; the reward comes with `submit` or the last step."""

    slow = True  # a command may take a minute, a test run two

    def __init__(self, project: Project, bench: Workbench, max_steps: int = MAX_STEPS) -> None:
        self._project, self._bench, self._max_steps = project, bench, max_steps
        self._carry_out: dict[str, Callable[[Action], str]] = {
            "list_dir": self._list,
            "read_file": self._read,
            "search": self._search,
            "edit_file": self._edit,
            "create_file": self._create,
            "run_command": self._run,
            "undo": self._undo,
        }

    def reset(self) -> Observation:
        self._files = dict(self._project.files)
        self._past: list[dict[str, str]] = []
        self._steps = 0
        parts = [self._project.statement, "Files:\n" + looking.listing(self._files)]
        if self._project.visible:
            parts.append("Failing tests:\n" + "\n".join(self._project.visible))
        return Observation("\n\n".join(parts), tuple(HELP.values()))

    def step(self, action: str) -> Observation:
        self._steps += 1
        try:
            wanted = parse(action)
            if wanted.name == "submit":
                return self._finish("Submitted.")
            text = self._carry_out[wanted.name](wanted)
        except ActionError as error:
            text = f"Error: {error}"
        if self._steps >= self._max_steps:
            return self._finish(f"{text}\n\nThe last step is taken: the project is as submitted.")
        return Observation(text, tuple(HELP.values()))

    def close(self) -> None:
        pass

    def _finish(self, text: str) -> Observation:
        project = self._project
        result = score(
            self._bench,
            project.files,
            self._files,
            project.hidden,
            project.fail_to_pass,
            project.pass_to_pass,
        )
        verdict = f"{len(result.fixed)} of {len(project.fail_to_pass)} target tests pass"
        if result.broken:
            verdict += f", but {len(result.broken)} other tests are broken"
        if project.merged:  # the history of a project shows how its bugs were mended
            verdict += f". The change that was merged in the end: {project.merged}"
        return Observation(f"{text} {verdict}.", (), result.reward, True)

    # --- looking -----------------------------------------------------------------------------

    def _list(self, action: Action) -> str:
        return looking.listing(self._files, **action.arguments)

    def _read(self, action: Action) -> str:
        return looking.page(self._files, **action.arguments)

    def _search(self, action: Action) -> str:
        return looking.search(self._files, **action.arguments)

    # --- changing ----------------------------------------------------------------------------

    def _edit(self, action: Action) -> str:
        given = action.arguments
        path = looking.resolve(given["path"])
        if path not in self._files:
            raise ActionError(f"no file {path!r}; create_file makes new ones")
        if "content" in given:
            return self._write(path, given["content"], "Replaced")
        old, new, text = given["find"], given["replace"], self._files[path]
        if not old:
            raise ActionError("find must not be empty")
        places = _occurrences(text, old)
        if "line" in given:
            places = [p for p in places if text.count("\n", 0, p) + 1 == given["line"]]
        if len(places) != 1:
            lines = ", ".join(str(text.count("\n", 0, p) + 1) for p in places[:10])
            raise ActionError(
                f"the text to find occurs {len(places)} times in {path} (lines {lines});"
                " add more of it, or the number of its first line as `line`"
                if places
                else f"the text to find does not occur in {path}"
            )
        at = places[0]
        changed = text[:at] + new + text[at + len(old) :]
        return self._write(path, changed, f"Edited line {text.count(chr(10), 0, at) + 1} of")

    def _create(self, action: Action) -> str:
        path = looking.resolve(action.arguments["path"])
        if path in self._files:
            raise ActionError(f"{path} exists; edit_file changes it")
        parents = ["/".join(path.split("/")[:n]) for n in range(1, path.count("/") + 1)]
        if not path or any(p.startswith(path + "/") for p in self._files):
            raise ActionError(f"{path!r} is a folder")
        if any(parent in self._files for parent in parents):
            raise ActionError(f"a part of {path!r} is a file")
        return self._write(path, action.arguments["content"], "Created")

    def _write(self, path: str, text: str, done: str) -> str:
        if len(text) > MOST_FILE_CHARS:
            raise ActionError(f"a file holds at most {MOST_FILE_CHARS} characters")
        if not _storable(path + text):
            raise ActionError("the text holds characters that no file can hold")
        self._past.append(self._files)
        self._files = {**self._files, path: text}
        return f"{done} {path}."

    def _undo(self, action: Action) -> str:
        if not self._past:
            raise ActionError("there is nothing to undo")
        before, self._files = self._files, self._past.pop()
        changed = sorted(p for p in {*before, *self._files} if before.get(p) != self._files.get(p))
        return "Undone: " + ", ".join(changed[:20])

    # --- running -----------------------------------------------------------------------------

    def _run(self, action: Action) -> str:
        command = action.arguments["command"]
        if "\0" in command or len(command) > 20_000 or not _storable(command):
            raise ActionError("this is not a command")
        ran = self._bench.command(self._files, command)
        if ran.files != self._files:
            self._past.append(self._files)
            self._files = dict(ran.files)
        return f"{ran.text}\n(exit code {ran.exit_code})".lstrip("\n")


def _storable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _occurrences(text: str, part: str) -> list[int]:
    places, at = [], text.find(part)
    while at >= 0:
        places.append(at)
        at = text.find(part, at + 1)
    return places
