"""Models without a model: a function answers. For tests, demonstrations and one's own programs.

`scripted:demo` is built in; `scripted:package.module:function` is any function that takes a
`Question` and gives the text of the reply.
"""

import importlib
import inspect
import json
import re
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from metamem.core.chat import Question, Usage
from metamem.core.errors import UsageError
from metamem.core.ids import derive_seed
from metamem.core.tokens import count_tokens
from metamem.models.base import Completion
from metamem.models.model_base import ModelBase
from metamem.models.spec import ModelOptions, ModelSpec

Answer = Callable[[Question], Any]  # text, or something that can be awaited for it
WINDOW = 32_000
_NOTES = re.compile(r"<notes>(.*?)</notes>", re.DOTALL)
_WORD = re.compile(r"\w+")

DEMO_DESIGN = '''"""Remembers which actions ended well.

Stores: the actions of episodes that were rewarded, by goal.
Retrieves: those of the goal that shares most words with the one at hand.
Forgets: nothing.
"""

from metamem.designs import Experience, Memory, Query, Tools, text


class Rewarded(Memory):
    """Remembers the actions of rewarded episodes."""

    KEPT = 9  # actions of an episode, from its end

    def __init__(self, tools: Tools) -> None:
        super().__init__(tools)
        self.ways: dict[str, list[str]] = {}

    async def retrieve(self, query: Query) -> str:
        if not self.ways:
            return ""
        nearest = max(
            self.ways, key=lambda goal: text.overlap(goal.split(), query.goal.split())
        )
        return text.numbered(self.ways[nearest])

    async def update(self, experience: Experience) -> None:
        if experience.reward > 0:
            self.ways[experience.goal] = [s.action for s in experience.steps[-self.KEPT :]]
'''


class ScriptedModel(ModelBase):
    """Answers by a function; counts tokens as metamem does; costs nothing."""

    def __init__(self, spec: ModelSpec, options: ModelOptions) -> None:
        super().__init__(spec, options, window=WINDOW)
        self._answer: Answer = demo if spec.name == "demo" else _function(spec.name)

    def price(self, usage: Usage) -> float | None:
        return 0.0

    async def complete(self, question: Question) -> Completion:
        said = self._answer(question)
        text = str(await said if inspect.isawaitable(said) else said)
        asked = sum(count_tokens(turn.text) for turn in question.turns)
        return Completion(text, Usage(asked, count_tokens(text)))


def demo(question: Question) -> str:
    """The choice that the notes name most, the smallest JSON that fits, a small design, or an echo."""
    luck = Random(derive_seed("demo", question.digest))
    if question.choices:
        told = set(_WORD.findall(" ".join(_NOTES.findall(question.turns[-1].text))))
        shared = [len(told & set(_WORD.findall(choice))) for choice in question.choices]
        best = [c for c, n in zip(question.choices, shared, strict=True) if n == max(shared)]
        return luck.choice(best)
    if question.schema is not None:
        return json.dumps(smallest(question.schema))
    if any("metamem.designs" in turn.text for turn in question.turns):
        return f"```python\n{DEMO_DESIGN.replace('KEPT = 9', f'KEPT = {luck.randint(1, 30)}')}```"
    return question.turns[-1].text[-200:] or "nothing"


def smallest(schema: Mapping[str, Any]) -> Any:
    """A small value that fits a plain JSON schema."""
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][0]
    for way in ("anyOf", "oneOf"):
        if schema.get(way):
            return smallest(schema[way][0])
    kind = schema.get("type", "string")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        properties = schema.get("properties", {})
        return {n: smallest(properties.get(n, {})) for n in schema.get("required", properties)}
    if kind == "array":
        return [smallest(schema.get("items", {}))] * int(schema.get("minItems", 0))
    if kind in ("integer", "number"):
        return schema.get("minimum", 0)
    return {"boolean": False, "null": None}.get(kind, "x" * int(schema.get("minLength", 1)))


def _function(path: str) -> Answer:
    module, colon, name = path.partition(":")
    try:
        found: Answer = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(
            f"there is no scripted model {path!r}: {error}",
            hint="scripted:demo, or scripted:package.module:function",
        ) from error
    if not colon or not callable(found):
        raise UsageError(f"{path!r} is no function", hint="scripted:package.module:function")
    return found
