"""Tasks and the states they go through."""

from dataclasses import dataclass, field

OPEN = "open"
ACTIVE = "active"
DONE = "done"
NEXT_STATES = {OPEN: (ACTIVE, DONE), ACTIVE: (OPEN, DONE), DONE: (OPEN,)}


@dataclass
class Task:
    number: int
    title: str
    priority: int = 3  # 1 is the most urgent
    state: str = OPEN
    due: int | None = None  # day number
    tags: list[str] = field(default_factory=list)
    needs: list[int] = field(default_factory=list)

    def move(self, state: str) -> None:
        if state not in NEXT_STATES[self.state]:
            raise ValueError(f"cannot go from {self.state} to {state}")
        self.state = state

    def is_late(self, today: int) -> bool:
        """Late from the day after it was due, unless done."""
        if self.due is None or self.state == DONE:
            return False
        return today > self.due

    def has_tag(self, tag: str) -> bool:
        return tag.lower() in [own.lower() for own in self.tags]
