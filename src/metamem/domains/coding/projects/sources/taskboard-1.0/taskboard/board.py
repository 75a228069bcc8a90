"""The board: adding, finding and sorting tasks."""

from taskboard.model import ACTIVE, DONE, OPEN, Task


class Board:
    def __init__(self, most_active: int = 3) -> None:
        self.tasks: dict[int, Task] = {}
        self.most_active = most_active

    def add(
        self,
        title: str,
        priority: int = 3,
        due: int | None = None,
        tags: list[str] | None = None,
        needs: list[int] | None = None,
    ) -> Task:
        if not title.strip():
            raise ValueError("a task needs a title")
        if priority < 1 or priority > 5:
            raise ValueError("priority must be from 1 to 5")
        number = max(self.tasks, default=0) + 1
        task = Task(number, title.strip(), priority, due=due, tags=list(tags or []))
        task.needs = list(needs or [])
        self.tasks[number] = task
        return task

    def get(self, number: int) -> Task:
        if number not in self.tasks:
            raise KeyError(f"no task {number}")
        return self.tasks[number]

    def start(self, number: int) -> None:
        """Begin a task; only so many may be active, and what it needs must be done."""
        if len(self.with_state(ACTIVE)) >= self.most_active:
            raise ValueError("too many active tasks")
        if self.blockers(number):
            raise ValueError("the task is blocked")
        self.get(number).move(ACTIVE)

    def finish(self, number: int) -> None:
        self.get(number).move(DONE)

    def with_state(self, state: str) -> list[Task]:
        return [task for task in self.tasks.values() if task.state == state]

    def with_tag(self, tag: str) -> list[Task]:
        return [task for task in self.tasks.values() if task.has_tag(tag)]

    def search(self, text: str) -> list[Task]:
        wanted = text.strip().lower()
        return [task for task in self.tasks.values() if wanted in task.title.lower()]

    def late(self, today: int) -> list[Task]:
        """The late tasks, the longest overdue first."""
        late = [task for task in self.tasks.values() if task.is_late(today)]
        return sorted(late, key=lambda task: (task.due or 0, task.number))

    def blockers(self, number: int) -> list[int]:
        """The tasks that must be done before this one."""
        return [n for n in self.get(number).needs if self.get(n).state != DONE]

    def agenda(self) -> list[Task]:
        """Unfinished tasks: urgent ones first, then by due day (none comes last), then number."""
        todo = [task for task in self.tasks.values() if task.state != DONE]
        return sorted(
            todo,
            key=lambda task: (task.priority, task.due is None, task.due or 0, task.number),
        )

    def progress(self) -> float:
        """The share of tasks that are done, in per cent."""
        if not self.tasks:
            return 0.0
        return 100 * len(self.with_state(DONE)) / len(self.tasks)

    def reopen_all(self) -> int:
        count = 0
        for task in self.with_state(DONE):
            task.move(OPEN)
            count += 1
        return count
