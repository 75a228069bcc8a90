"""Simple statistics on lists of numbers."""


def mean(values: list[float]) -> float:
    if not values:
        raise ValueError("mean of no values")
    return sum(values) / len(values)


def median(values: list[float]) -> float:
    if not values:
        raise ValueError("median of no values")
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2 == 1:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2


def variance(values: list[float], sample: bool = True) -> float:
    """The variance; of a sample unless told that it is the whole population."""
    if len(values) < 2:
        raise ValueError("variance needs two values")
    center = mean(values)
    squares = sum((value - center) ** 2 for value in values)
    return squares / (len(values) - 1 if sample else len(values))


def mode(values: list[float]) -> float:
    """The most frequent value; the smallest of several."""
    if not values:
        raise ValueError("mode of no values")
    counts: dict[float, int] = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    most = max(counts.values())
    return min(value for value, count in counts.items() if count == most)


def percentile(values: list[float], share: float) -> float:
    """The value below which a share (0 to 100) of the others lies, interpolated."""
    if not values:
        raise ValueError("percentile of no values")
    if share < 0 or share > 100:
        raise ValueError("share must be from 0 to 100")
    ordered = sorted(values)
    place = (len(ordered) - 1) * share / 100
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def value_range(values: list[float]) -> float:
    if not values:
        return 0
    return max(values) - min(values)


def moving_average(values: list[float], width: int) -> list[float]:
    """The means of all windows of a width."""
    if width < 1:
        raise ValueError("width must be positive")
    return [mean(values[i : i + width]) for i in range(len(values) - width + 1)]
