"""Tasks as lines of text:  [x] 2 Buy milk !1 @5 #home"""

from taskboard.model import ACTIVE, DONE, OPEN, Task

MARKS = {OPEN: " ", ACTIVE: "~", DONE: "x"}


def to_line(task: Task) -> str:
    parts = [f"[{MARKS[task.state]}]", str(task.number), task.title]
    if task.priority != 3:
        parts.append(f"!{task.priority}")
    if task.due is not None:
        parts.append(f"@{task.due}")
    parts.extend(f"#{tag}" for tag in sorted(task.tags))
    return " ".join(parts)


def from_line(line: str) -> Task:
    line = line.strip()
    if len(line) < 4 or line[0] != "[" or line[2] != "]":
        raise ValueError(f"not a task: {line}")
    states = {mark: state for state, mark in MARKS.items()}
    number, *words = line[3:].split()
    task = Task(int(number), "", state=states[line[1].lower()])
    title = []
    for word in words:
        if word.startswith("!"):
            task.priority = int(word[1:])
        elif word.startswith("@"):
            task.due = int(word[1:])
        elif word.startswith("#"):
            task.tags.append(word[1:])
        else:
            title.append(word)
    task.title = " ".join(title)
    return task


def summary(tasks: list[Task]) -> str:
    """How many tasks are in each state."""
    if not tasks:
        return "no tasks"
    counts = dict.fromkeys(MARKS, 0)
    for task in tasks:
        counts[task.state] += 1
    return ", ".join(f"{count} {state}" for state, count in counts.items() if count > 0)
