"""Whole numbers: divisors, primes, digits."""


def gcd(a: int, b: int) -> int:
    """The greatest common divisor, never negative."""
    while b:
        a, b = b, a % b
    return abs(a)


def lcm(a: int, b: int) -> int:
    if a == 0 or b == 0:
        return 0
    return abs(a * b) // gcd(a, b)


def is_prime(n: int) -> bool:
    if n < 2:
        return False
    d = 2
    while d * d <= n:
        if n % d == 0:
            return False
        d += 1
    return True


def primes_up_to(limit: int) -> list[int]:
    """All primes up to and including the limit."""
    return [n for n in range(2, limit + 1) if is_prime(n)]


def factorial(n: int) -> int:
    if n < 0:
        raise ValueError("factorial needs a number from 0 up")
    result = 1
    for factor in range(2, n + 1):
        result *= factor
    return result


def divisors(n: int) -> list[int]:
    """All divisors of a positive number, smallest first."""
    if n < 1:
        raise ValueError("divisors needs a positive number")
    return [d for d in range(1, n + 1) if n % d == 0]


def digit_sum(n: int) -> int:
    n = abs(n)
    total = 0
    while n > 0:
        total += n % 10
        n //= 10
    return total


def is_perfect(n: int) -> bool:
    """Whether a number is the sum of its smaller divisors."""
    if n < 2:
        return False
    return sum(divisors(n)[:-1]) == n


def clamp(value: float, low: float, high: float) -> float:
    if low > high:
        raise ValueError("low is above high")
    return max(low, min(value, high))
