"""An agent without a model: it does what it is asked step by step, by habit.

It looks around now and then, stumbles where people stumble, and finds the remedy after a try or two. It
learns nothing by itself: what it knows more from one task to the next comes from its aids. It obeys what
they suggest and uses a tool whose description fits the task; where the tool fails, it tidies up and does
the steps by hand. Its luck hangs on seed and task alone, so that two arms meet the same.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal, Protocol

from bench.foundry.chores import TROUBLES, Move, Script, Trouble
from bench.foundry.reading import Diary
from bench.foundry.tasks import Task
from bench.foundry.world import Tree
from metamem.core.ids import derive_seed
from metamem.core.tokens import count_tokens
from metamem.foundry.words import Outcome, Trace, Use
from metamem.sandbox.workspace import CommandResult

LOOKING = 0.35  # how often it looks around before a step
STUMBLING = 0.6  # how often it begins with a form that fails, where there is one
SCOPE = "local/project/foundry"
HOST = "claude-code"
SHELL = "Bash"
STEP = 2_000  # milliseconds from one call to the next
LOOKS = (
    "ls",
    "ls docs",
    "git status --short",
    "git log --oneline -3",
    "cat README.md",
    "cat Makefile",
    "cat settings.ini",
    "head -3 CHANGELOG.md",
    "git branch --list",
    "find . -name '*.py' -newer VERSION",
)
Source = Literal["goal", "listing", "suggestions", "steps", "tools"]
TIDY = "git reset -q --hard && git clean -fdq && git switch -q main"


@dataclass(frozen=True, slots=True)
class Listed:
    """A tool as an agent is told of it."""

    name: str
    description: str
    examples: Mapping[str, tuple[Any, ...]]  # of each parameter that has to be given
    text: str  # that it reads


class Aids(Protocol):
    """What helps an agent at work. Nothing of it knows the tasks."""

    def listing(self) -> Sequence[Listed]:
        """The tools that there are."""
        ...

    async def call(self, name: str, values: Mapping[str, Any], tree: Tree) -> tuple[int, str]:
        """Use a tool: its exit code and what it said."""
        ...

    def at_start(self, task: Task) -> str:
        """What has proven to help in tasks like this; empty where nothing is known."""
        ...

    def before_retry(self, trace: Trace) -> str:
        """What has proven to help after the failure with which this trace ends."""
        ...


class Alone:
    """The control arm: no aids."""

    def listing(self) -> Sequence[Listed]:
        return ()

    async def call(self, name: str, values: Mapping[str, Any], tree: Tree) -> tuple[int, str]:
        raise AssertionError("there is no tool to call")

    def at_start(self, task: Task) -> str:
        return ""

    def before_retry(self, trace: Trace) -> str:
        return ""


@dataclass(frozen=True, slots=True)
class Done:
    """What a task came to."""

    calls: int
    tokens: int  # that the agent reads, each once
    sent: int  # the same, as a host pays for them: with every call all that was read before it
    told: Mapping[Source, int]  # `tokens`, by where they come from
    success: bool
    failures: tuple[str, ...]  # the troubles it ran into, each time
    tool: str = ""  # the tool that was used
    tool_failed: bool = False


@dataclass(frozen=True, slots=True)
class Work:
    """One task, done or not, and how."""

    trace: Trace
    done: Done


@dataclass(slots=True)
class _Session:
    """What happens while a task is worked on."""

    task: Task
    tree: Tree
    uses: list[Use] = field(default_factory=list)
    told: Counter[Source] = field(default_factory=Counter)
    sent: int = 0
    known: set[Trouble] = field(default_factory=set)
    failures: list[str] = field(default_factory=list)
    tool: str = ""
    tool_failed: bool = False

    @property
    def id(self) -> str:
        return f"seed{self.task.seed}-task{self.task.number}"

    @property
    def tokens(self) -> int:
        return self.told.total()

    def read(self, source: Source, *texts: str) -> None:
        """Something that the agent reads."""
        self.told[source] += sum(map(count_tokens, texts))

    def used(self, tool: str, arguments: Mapping[str, Any], exit_code: int, output: str) -> None:
        self.sent += self.tokens
        source: Source = "steps" if tool == SHELL else "tools"
        self.read(source, " ".join(map(str, arguments.values())), output)
        failed = exit_code != 0
        number = len(self.uses)
        # Claude Code begins the result of a failed command with its exit code.
        shown = f"Exit code {exit_code}\n{output}" if failed else output
        use = Use(
            f"{self.id}-{number}",
            tool,
            arguments,
            shown,
            shown if failed else "",
            failed,
            exit_code,
            self.began + number * STEP,
            STEP // 2,
            prompt=f"{self.id}-prompt",
        )
        self.uses.append(use)

    async def run(self, command: str) -> CommandResult:
        done = await self.tree.run(command)
        self.used(SHELL, {"command": command}, done.exit_code, done.stdout + done.stderr)
        return done

    @property
    def began(self) -> int:
        return self.task.project.at * 1000

    def trace(self) -> Trace:
        last = self.uses[-1] if self.uses else None
        outcome = Outcome() if last is None else Outcome("exit", not last.failed, 0.6)
        return Trace(
            SCOPE,
            HOST,
            self.id,
            tuple(self.uses),
            {f"{self.id}-prompt": self.task.goal},
            outcome,
            self.tree.snapshot(),
            self.began,
            self.began + len(self.uses) * STEP,
        )


async def work(task: Task, tree: Tree, aids: Aids, diary: Diary) -> Work:
    """Do a task, with whatever helps."""
    session = _Session(task, tree)
    session.read("goal", task.goal)
    random = Random(derive_seed("foundry-agent", task.seed, task.number))
    await _do(session, aids, diary, random)
    diary.note(task.wording, task.slots, task.goal)
    done = Done(
        len(session.uses),
        session.tokens,
        session.sent + session.tokens,  # once more for the answer with which it ends
        dict(session.told),
        task.done(tree),
        tuple(session.failures),
        session.tool,
        session.tool_failed,
    )
    return Work(session.trace(), done)


async def _do(session: _Session, aids: Aids, diary: Diary, random: Random) -> None:
    task = session.task
    listing = aids.listing()
    for listed in listing:
        session.read("listing", listed.text)
    _learn(session, aids.at_start(task))
    fitting = diary.fitting(
        task.wording,
        task.slots,
        {t.name: (t.description, t.examples) for t in listing},
        task.goal,
    )
    if fitting is not None:
        name, values = fitting
        code, said = await aids.call(name, values, session.tree)
        session.used(name, values, code, said)
        session.tool, session.tool_failed = name, code != 0
        if code == 0:
            return
        await session.run(TIDY)
    if task.chore is not None:
        await _by_hand(session, task.chore.script(task.project, task.slots), aids, random)
    elif task.chain is not None:
        for command in task.chain.commands:
            await _look(session, random)
            await session.run(command)


async def _by_hand(session: _Session, script: Script, aids: Aids, random: Random) -> None:
    move = next(script)
    while True:
        await _look(session, random)
        said = await _carried_out(session, move, aids, random)
        try:
            move = script.send(said)
        except StopIteration:
            return


async def _carried_out(session: _Session, move: Move, aids: Aids, random: Random) -> str:
    # Drawn in any case: what is known must not change the luck of what comes later.
    stumbles, tries = random.random() < STUMBLING, random.randint(1, 2)
    trouble = move.trouble
    if trouble is not None and stumbles and trouble not in session.known:
        for failing in move.failing[:tries]:
            await session.run(failing)
            session.failures.append(trouble.name)
            _learn(session, aids.before_retry(session.trace()))
            if trouble in session.known:
                break
        session.known.add(trouble)  # found out, for as long as this task takes
    if move.first:
        await session.run(move.first)
    return (await session.run(move.command)).stdout


async def _look(session: _Session, random: Random) -> None:
    looks, which = random.random() < LOOKING, random.choice(LOOKS)
    if looks:
        await session.run(which)


def _learn(session: _Session, suggestion: str) -> None:
    """Obey a suggestion: where it names a remedy, that is known from now on."""
    session.read("suggestions", suggestion)
    session.known |= {trouble for trouble in TROUBLES if trouble.sign in suggestion}
