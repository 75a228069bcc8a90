import pytest
from mathlib.numbers import (
    clamp,
    digit_sum,
    divisors,
    factorial,
    gcd,
    is_perfect,
    is_prime,
    lcm,
    primes_up_to,
)


def test_gcd():
    assert gcd(12, 18) == 6
    assert gcd(7, 5) == 1


def test_gcd_of_negative_numbers_is_positive():
    assert gcd(-12, 18) == 6
    assert gcd(12, -18) == 6


def test_lcm():
    assert lcm(4, 6) == 12
    assert lcm(-4, 6) == 12


def test_lcm_with_zero():
    assert lcm(0, 5) == 0
    assert lcm(5, 0) == 0
    assert lcm(0, 0) == 0


def test_small_primes():
    assert is_prime(2)
    assert is_prime(3)
    assert is_prime(29)


def test_no_primes_below_two():
    assert not is_prime(1)
    assert not is_prime(0)
    assert not is_prime(-7)


def test_squares_are_not_prime():
    assert not is_prime(4)
    assert not is_prime(25)
    assert not is_prime(49)


def test_primes_up_to():
    assert primes_up_to(10) == [2, 3, 5, 7]


def test_primes_up_to_a_prime():
    assert primes_up_to(11) == [2, 3, 5, 7, 11]
    assert primes_up_to(2) == [2]


def test_factorial():
    assert factorial(5) == 120
    assert factorial(1) == 1


def test_factorial_of_zero():
    assert factorial(0) == 1


def test_factorial_of_a_negative_number():
    with pytest.raises(ValueError):
        factorial(-1)


def test_divisors():
    assert divisors(12) == [1, 2, 3, 4, 6, 12]
    assert divisors(1) == [1]


def test_divisors_needs_a_positive_number():
    with pytest.raises(ValueError):
        divisors(0)


def test_digit_sum():
    assert digit_sum(1234) == 10
    assert digit_sum(-56) == 11
    assert digit_sum(0) == 0


def test_is_perfect():
    assert is_perfect(6)
    assert is_perfect(28)
    assert not is_perfect(12)
    assert not is_perfect(1)


def test_clamp():
    assert clamp(5, 0, 10) == 5
    assert clamp(-5, 0, 10) == 0
    assert clamp(15, 0, 10) == 10


def test_clamp_bounds_in_the_wrong_order():
    assert clamp(3, 4, 4) == 4
    with pytest.raises(ValueError):
        clamp(5, 10, 0)
