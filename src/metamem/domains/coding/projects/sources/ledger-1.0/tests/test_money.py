import pytest
from ledger.money import discount, format_amount, interest, parse_amount, share, split


def test_parse_amount():
    assert parse_amount("12.50") == 1250
    assert parse_amount("7") == 700
    assert parse_amount(".25") == 25


def test_parse_amount_short_part():
    assert parse_amount("3.5") == 350


def test_parse_amount_negative():
    assert parse_amount("-3.25") == -325


def test_parse_amount_with_marks():
    assert parse_amount(" $1,200.00 ") == 120000


def test_parse_amount_refuses_parts_of_cents():
    with pytest.raises(ValueError):
        parse_amount("1.005")


def test_format_amount():
    assert format_amount(1250) == "12.50"
    assert format_amount(5) == "0.05"
    assert format_amount(123456789) == "1,234,567.89"


def test_format_amount_negative():
    assert format_amount(-325) == "-3.25"
    assert format_amount(0) == "0.00"


def test_share():
    assert share(1000, 20) == 200
    assert share(105, 10) == 11
    assert share(104, 10) == 10


def test_split():
    assert split(900, 3) == [300, 300, 300]
    assert split(1000, 3) == [334, 333, 333]
    assert split(5, 1) == [5]


def test_split_between_nobody():
    with pytest.raises(ValueError):
        split(100, 0)


def test_discount():
    assert discount(1000, 25) == 750
    assert discount(1000, 0) == 1000
    assert discount(1000, 100) == 0


def test_discount_with_a_limit():
    assert discount(1000, 50, most=200) == 800
    assert discount(1000, 10, most=200) == 900
    assert discount(1000, 10, most=0) == 1000


def test_discount_checks_percent():
    with pytest.raises(ValueError):
        discount(1000, 101)
    with pytest.raises(ValueError):
        discount(1000, -1)


def test_interest():
    assert interest(1000, 10, 1) == 1100
    assert interest(1000, 10, 2) == 1210
    assert interest(1000, 10, 0) == 1000
