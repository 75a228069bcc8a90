"""Task by task: the learned design minus another, sorted, each kind of task in its own row."""

from collections.abc import Mapping

from markupsafe import Markup

from metamem.core.figures import SHARES
from metamem.core.figures import Scale as Rewards
from metamem.report.plots.svg import element, line, picture, text

WIDTH, LEFT, RIGHT, ROW = 900, 220, 110, 46


def differences_plot(
    gains: Mapping[str, float],
    kinds: Mapping[str, str],
    against: str,
    rewards: Rewards = SHARES,
) -> Markup:
    """`gains` by task; `kinds` names each task's group."""
    groups: dict[str, list[tuple[float, str]]] = {}
    for task, gain in gains.items():
        groups.setdefault(kinds.get(task, ""), []).append((gain, task))
    longest = max(map(len, groups.values()))
    step = min(30.0, (WIDTH - LEFT - RIGHT) / longest)
    # Of shares a bar's full height is all or nothing; other rewards seldom use their whole range.
    full = 1.0 if rewards.shares else max(map(abs, gains.values())) or 1.0
    parts = []
    for number, kind in enumerate(sorted(groups)):
        own, top = sorted(groups[kind], reverse=True), 10 + ROW * number
        parts.append(_row(kind, own, top, step, full, rewards))
    won, tied, lost = _counts(list(gains.values()))
    words = (
        f"Against {against}, of {len(gains)} tasks the learned design did better on {won}, "
        f"equally on {tied}, worse on {lost}."
    )
    return picture(WIDTH, 20 + ROW * len(groups), "Differences by task", words, *parts)


def _row(
    kind: str,
    gains: list[tuple[float, str]],
    top: float,
    step: float,
    full: float,
    rewards: Rewards,
) -> Markup:
    middle = top + ROW / 2 - 3
    half = ROW / 2 - 8
    parts = [
        text(LEFT - 10, middle + 4, kind[:32] or "all tasks", "node", "end"),
        line(LEFT, middle, LEFT + step * len(gains), middle, "axis"),
    ]
    for place, (gain, task) in enumerate(gains):
        size = max(1.5, half * min(1.0, abs(gain) / full))
        box = {
            "x": LEFT + step * place,
            "y": middle - size if gain >= 0 else middle,
            "width": max(0.8, step - 1.2),
            "height": size,
        }
        kind_of = "bar-won" if gain > 0 else "bar-lost" if gain < 0 else "bar-tied"
        told = f"{gain:+.2f}" if rewards.shares else rewards.gain(gain)
        parts.append(element("rect", element("title", f"{task}: {told}"), class_=kind_of, **box))
    won, tied, lost = _counts([gain for gain, _ in gains])
    mean = rewards.gain(sum(gain for gain, _ in gains) / len(gains)) + rewards.unit_of_gains
    parts.append(text(WIDTH - RIGHT + 6, middle - 3, mean, "node"))
    parts.append(text(WIDTH - RIGHT + 6, middle + 12, f"{won} / {tied} / {lost}", "tick"))
    return Markup("").join(parts)


def _counts(gains: list[float]) -> tuple[int, int, int]:
    return sum(g > 0 for g in gains), sum(g == 0 for g in gains), sum(g < 0 for g in gains)
