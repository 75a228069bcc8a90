"""In what order and how long."""

from taskboard.model import Task


def order(tasks: list[Task]) -> list[int]:
    """Numbers such that each task comes after those it needs, small numbers first."""
    left = {task.number: set(task.needs) for task in tasks}
    result: list[int] = []
    while left:
        ready = sorted(number for number, needs in left.items() if not needs & set(left))
        if not ready:
            raise ValueError("the tasks need each other")
        result.append(ready[0])
        del left[ready[0]]
    return result


def workload(tasks: list[Task], per_day: int = 2) -> int:
    """Days needed for so many tasks, begun days counting as whole."""
    if per_day < 1:
        raise ValueError("per_day must be positive")
    return (len(tasks) + per_day - 1) // per_day


def weight(task: Task, today: int, urgent: int = 7) -> int:
    """How pressing a task is: more for priority, and more again when it is due soon."""
    points = 6 - task.priority
    if task.due is not None and task.due - today <= urgent:
        points *= 2
    return points


def heaviest(tasks: list[Task], today: int, count: int = 3) -> list[int]:
    ranked = sorted(tasks, key=lambda task: (-weight(task, today), task.number))
    return [task.number for task in ranked[:count]]
