"""Sequences of numbers."""


def fibonacci(count: int) -> list[int]:
    """The first numbers of the sequence 0, 1, 1, 2, 3, ..."""
    numbers: list[int] = []
    a, b = 0, 1
    while len(numbers) < count:
        numbers.append(a)
        a, b = b, a + b
    return numbers


def arithmetic(start: int, step: int, count: int) -> list[int]:
    return [start + step * i for i in range(count)]


def cumulative(values: list[int]) -> list[int]:
    total = 0
    sums = []
    for value in values:
        total += value
        sums.append(total)
    return sums


def differences(values: list[int]) -> list[int]:
    """Each value less the one before it."""
    return [values[i] - values[i - 1] for i in range(1, len(values))]


def is_increasing(values: list[int], strict: bool = True) -> bool:
    least = 1 if strict else 0
    return all(change >= least for change in differences(values))


def collatz(n: int) -> list[int]:
    """The way from a number down to 1."""
    if n < 1:
        raise ValueError("collatz needs a positive number")
    way = [n]
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        way.append(n)
    return way


def triangle_row(row: int) -> list[int]:
    """A row of Pascal's triangle, counted from 0."""
    numbers = [1]
    for _ in range(row):
        numbers = [1] + [numbers[i] + numbers[i + 1] for i in range(len(numbers) - 1)] + [1]
    return numbers
