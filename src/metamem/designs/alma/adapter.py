"""A memory that is one of ALMA's structures."""

import json
from typing import Any

from metamem.core.types import Experience, Query
from metamem.designs.alma import runtime
from metamem.designs.alma.fields import Fields
from metamem.designs.alma.structure import Basic_Recorder, MemoStructure
from metamem.designs.contract import Memory
from metamem.designs.toolbox import Tools


class AlmaMemory(Memory):
    """Hands queries and experiences to a structure as recorders."""

    def __init__(self, kind: type[MemoStructure], fields: Fields, tools: Tools) -> None:
        super().__init__(tools)
        self._fields = fields
        self._desk = runtime.Desk(tools, tools._host)  # type: ignore[arg-type]
        self._told: tuple[str, str, Any] = ("", "", {})  # the last query, and what was advised
        runtime.use(self._desk)
        self._structure = kind()

    async def retrieve(self, query: Query) -> Any:
        runtime.use(self._desk)  # again, since a restored memory comes without a call of __init__
        recorder = Basic_Recorder(self._fields.init(query), self._fields.steps(query.steps))
        advice = _json_able(await self._structure.general_retrieve(recorder))
        self._told = (query.goal, query.observation, advice)
        return advice

    async def update(self, experience: Experience) -> None:
        runtime.use(self._desk)
        recorder = Basic_Recorder(
            self._fields.init(experience), self._fields.steps(experience.steps), experience.reward
        )
        goal, observation, advice = self._told
        if (goal, observation) == (experience.goal, experience.observation):
            recorder.memory_retrieved = advice
        await self._structure.general_update(recorder)
        self._desk.end_of_episode()


def _json_able(advice: Any) -> Any:
    try:
        text = json.dumps(advice, allow_nan=False, ensure_ascii=False, indent=2)
    except (TypeError, ValueError) as error:
        raise TypeError(f"general_retrieve() returned what JSON cannot hold: {error}") from error
    return advice if advice is None or isinstance(advice, str | dict) else text
