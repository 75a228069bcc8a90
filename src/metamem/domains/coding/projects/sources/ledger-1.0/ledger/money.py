"""Amounts in cents."""


def parse_amount(text: str) -> int:
    """Cents of 12.50, 1,200 or -3.5, with or without a sign for the currency."""
    text = text.strip().lstrip("$").replace(",", "")
    negative = text.startswith("-")
    whole, _, part = text.lstrip("-").partition(".")
    if len(part) > 2:
        raise ValueError(f"too many digits: {text}")
    cents = int(whole or 0) * 100 + int(part.ljust(2, "0"))
    return -cents if negative else cents


def format_amount(cents: int) -> str:
    sign = "-" if cents < 0 else ""
    return f"{sign}{abs(cents) // 100:,}.{abs(cents) % 100:02d}"


def share(cents: int, percent: int) -> int:
    """A share in per cent, rounded half up."""
    return (cents * percent + 50) // 100


def split(cents: int, people: int) -> list[int]:
    """Equal parts; the first ones carry what is left over."""
    if people < 1:
        raise ValueError("nobody to split between")
    part, rest = cents // people, cents % people
    return [part + 1 if i < rest else part for i in range(people)]


def discount(cents: int, percent: int, most: int | None = None) -> int:
    """What is left to pay; the discount may have an upper limit."""
    if percent < 0 or percent > 100:
        raise ValueError("percent must be from 0 to 100")
    off = share(cents, percent)
    if most is not None:
        off = min(off, most)
    return cents - off


def interest(cents: int, percent: int, years: int) -> int:
    """The amount after some years of compound interest."""
    for _ in range(years):
        cents += share(cents, percent)
    return cents
