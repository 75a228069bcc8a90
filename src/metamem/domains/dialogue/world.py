"""One question: it is shown, a text is handed over, and rules score it."""

from metamem.core.types import Observation
from metamem.domains.dialogue.conversation import Question
from metamem.domains.dialogue.scoring import score


class DialogueWorld:
    """Shows the day of asking; the first action is the reply and ends the episode."""

    def __init__(self, question: Question, budget: int) -> None:
        self._question, self._budget = question, budget

    def reset(self) -> Observation:
        return Observation(f"Asked on {self._question.date}: {self._question.text}")

    def step(self, action: str) -> Observation:
        return Observation("Noted.", (), score(self._question, action, self._budget), True)

    def close(self) -> None:
        pass
