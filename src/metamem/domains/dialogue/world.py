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
        """What would have been right is told afterwards: whoever studies it can learn from it."""
        reward = score(self._question, action, self._budget)
        return Observation(_afterwards(self._question), (), reward, True)

    def close(self) -> None:
        pass


def _afterwards(question: Question) -> str:
    said = [group[0].text for group in question.evidence]
    if question.answerable:
        return "\n".join([f"Right: {', '.join(question.answers[0])}", *said])
    return "\n".join(["Right: nothing is to be told", *said])
