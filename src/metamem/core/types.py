"""The words of metamem (docs/words.md) as small frozen types.

What a memory design may see (`Query`, `Experience`, `Step`, `Message`) is kept apart from
what only the host knows (`Task`, `Episode`, `CaseResult`), so that nothing leaks by accident.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal

from metamem.core.ids import content_id

Kind = Literal["code", "params"]
Split = Literal["train", "valid", "test", "shift"]
SPLITS: tuple[Split, ...] = ("train", "valid", "test", "shift")


@lru_cache(maxsize=4096)
def _design_id(kind: str, source: str) -> str:
    return content_id("design", kind, source)


@dataclass(frozen=True, slots=True)
class Design:
    """What is learned: source code of a memory, or a typed parameter set as JSON."""

    source: str = field(repr=False)
    kind: Kind = "code"
    name: str = field(default="", compare=False)  # a label for people; not part of the id

    @property
    def id(self) -> str:
        return _design_id(self.kind, self.source)


# --- what an agent and a memory may see -----------------------------------------------------


@dataclass(frozen=True, slots=True)
class Observation:
    """What a world shows after reset or after an action."""

    text: str
    actions: tuple[str, ...] = ()  # the admissible actions, where the domain shows them
    reward: float = 0.0
    done: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One action and what came back."""

    action: str
    observation: str
    actions: tuple[str, ...] = ()  # admissible afterwards
    reward: float = 0.0
    done: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """One utterance in a conversation."""

    speaker: str
    text: str
    time: str = ""


@dataclass(frozen=True, slots=True)
class Query:
    """What memory may see when asked: the task, the observation now, the steps so far."""

    goal: str
    observation: str = ""
    actions: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    start: str = ""  # what was seen before the first of them; empty where there are none
    start_actions: tuple[str, ...] = ()  # and what could be done then

    def to_json(self) -> dict[str, Any]:
        data: dict[str, Any] = {
            "goal": self.goal,
            "observation": self.observation,
            "actions": list(self.actions),
            "steps": [step_to_json(s) for s in self.steps],
        }
        if self.start or self.start_actions:
            data |= {"start": self.start, "start_actions": list(self.start_actions)}
        return data

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "Query":
        return Query(
            goal=data["goal"],
            observation=data.get("observation", ""),
            actions=tuple(data.get("actions", ())),
            steps=tuple(step_from_json(s) for s in data.get("steps", ())),
            start=data.get("start", ""),
            start_actions=tuple(data.get("start_actions", ())),
        )


@dataclass(frozen=True, slots=True)
class Experience:
    """What memory learns from: an episode as the agent saw it, or a batch of messages."""

    goal: str = ""
    observation: str = ""  # the first one, before any action
    actions: tuple[str, ...] = ()  # admissible at the start
    steps: tuple[Step, ...] = ()
    reward: float = 0.0
    messages: tuple[Message, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "goal": self.goal,
            "observation": self.observation,
            "actions": list(self.actions),
            "steps": [step_to_json(s) for s in self.steps],
            "reward": self.reward,
            "messages": [[m.speaker, m.text, m.time] for m in self.messages],
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "Experience":
        return Experience(
            goal=data.get("goal", ""),
            observation=data.get("observation", ""),
            actions=tuple(data.get("actions", ())),
            steps=tuple(step_from_json(s) for s in data.get("steps", ())),
            reward=float(data.get("reward", 0.0)),
            messages=tuple(Message(*m) for m in data.get("messages", ())),
        )


def step_to_json(step: Step) -> list[Any]:
    """Steps are the bulk of every payload, so they travel as short lists."""
    return [step.action, step.observation, list(step.actions), step.reward, step.done]


def step_from_json(data: Sequence[Any]) -> Step:
    action, observation, actions, reward, done = data
    return Step(action, observation, tuple(actions), float(reward), bool(done))


# --- what only the host knows ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Task:
    """What an agent is asked. `data` is for the world factory alone and is never shown."""

    id: str
    goal: str
    kind: str = ""  # what reports sum up by, such as the task type
    data: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
    group: str = ""  # tasks of one group share a memory that has only that group's history


@dataclass(frozen=True, slots=True)
class Advice:
    """What `retrieve` returned, as the agent sees it, after the host's cap."""

    text: str = ""
    tokens: int = 0
    truncated: bool = False
    at: int = 0  # actions done when memory was asked
    why: str = ""  # what it was asked again for

    def to_json(self) -> dict[str, Any]:
        data = asdict(self)
        if not self.at:  # as it stood when memory was asked before the first action alone
            del data["at"], data["why"]
        return data


@dataclass(frozen=True, slots=True)
class Episode:
    """One task played to its end, with the advice that was given."""

    task_id: str
    goal: str
    observation: str
    actions: tuple[str, ...]
    steps: tuple[Step, ...]
    reward: float
    advice: tuple[Advice, ...] = ()  # one for each time memory was asked

    def experience(self) -> Experience:
        return Experience(self.goal, self.observation, self.actions, self.steps, self.reward)

    def to_json(self) -> dict[str, Any]:
        data = self.experience().to_json()
        del data["messages"]
        data["task_id"] = self.task_id
        data["advice"] = [a.to_json() for a in self.advice]
        return data

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "Episode":
        seen = Experience.from_json(data)
        return Episode(
            data.get("task_id", ""),
            seen.goal,
            seen.observation,
            seen.actions,
            seen.steps,
            seen.reward,
            tuple(Advice(**a) for a in data.get("advice", ())),
        )


@dataclass(frozen=True, slots=True)
class Case:
    """One task × one repeat. The task is the unit of statistics; its repeats are averaged."""

    task_id: str
    repeat: int = 0


@dataclass(frozen=True, slots=True)
class Scored:
    """What a set of parameters came to on one task: a reward, and whatever it cost, by name."""

    reward: float
    costs: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Measurement:
    """What a clock said: kept apart from results, never compared for equality."""

    seconds: float = 0.0  # the whole case
    retrieve_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One row. All but `measured` is exact and repeatable under an equal fingerprint."""

    task_id: str
    repeat: int
    reward: float
    steps: int  # actions taken
    advice_tokens: int = 0
    advice_truncated: bool = False
    advice_digest: str = ""  # equal digests: the agent was told the same
    actions_digest: str = ""  # equal digests: the agent did the same; empty: not known
    model_calls: int = 0
    tokens: int = 0
    failure: str = ""  # what the design or the agent did wrong; empty where nothing
    costs: Mapping[str, float] = field(
        default_factory=dict, hash=False
    )  # what else it took, by name
    measured: Measurement = field(default=Measurement(), compare=False)

    @property
    def case(self) -> Case:
        return Case(self.task_id, self.repeat)


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Everything a score depends on. Equal fingerprints (save the design) may be compared."""

    design: str
    domain: str
    data_version: str
    split: str
    rules: Mapping[str, Any]
    agent: str
    models: Mapping[str, str]
    embedder: str
    toolbox: str
    limits: Mapping[str, Any]
    seed: int

    @property
    def id(self) -> str:
        return content_id("evaluation", self.to_json())

    @property
    def conditions(self) -> str:
        """The id of all but the design: what two evaluations must share to be compared."""
        return content_id("conditions", replace(self, design="").to_json())

    def to_json(self) -> dict[str, Any]:
        """As it is stored and hashed, where the rules have always been called the protocol."""
        return {"protocol" if name == "rules" else name: v for name, v in asdict(self).items()}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "Fingerprint":
        return Fingerprint(
            **{"rules" if name == "protocol" else name: v for name, v in data.items()}
        )


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One design on one split under one fingerprint: a row per case."""

    fingerprint: Fingerprint
    rows: tuple[CaseResult, ...]
    planned: int  # cases in the full plan; fewer rows mean it was raced out or is unfinished

    @property
    def id(self) -> str:
        return self.fingerprint.id

    @property
    def design(self) -> str:
        return self.fingerprint.design

    @property
    def complete(self) -> bool:
        return len(self.rows) >= self.planned

    def by_task(self) -> dict[str, float]:
        """Mean reward of each task over its repeats, in task order."""
        sums: dict[str, list[float]] = {}
        for row in sorted(self.rows, key=lambda r: (r.task_id, r.repeat)):
            sums.setdefault(row.task_id, []).append(row.reward)
        return {task: sum(values) / len(values) for task, values in sums.items()}

    @property
    def reward(self) -> float:
        """Mean over tasks. Not an estimate of the whole where the evaluation is incomplete."""
        means = self.by_task()
        return sum(means.values()) / len(means) if means else float("nan")


def render_advice(value: Any) -> str:
    """What `retrieve` returned, as text: a string as it is, a structure as indented JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value.strip()
    if value in ({}, []):
        return ""
    return json.dumps(value, indent=1, ensure_ascii=False, default=str)
