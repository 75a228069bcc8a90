"""Sums by note and by month."""

from ledger.accounts import Account, Entry
from ledger.money import format_amount

MONTH = 30  # days


def by_note(entries: list[Entry]) -> dict[str, int]:
    totals: dict[str, int] = {}
    for entry in entries:
        key = entry.note.strip().lower() or "other"
        totals[key] = totals.get(key, 0) + entry.amount
    return totals


def by_month(entries: list[Entry]) -> dict[int, int]:
    """Sums by month, counted from 1; day 1 is the first day of month 1."""
    totals: dict[int, int] = {}
    for entry in entries:
        month = (entry.day - 1) // MONTH + 1
        totals[month] = totals.get(month, 0) + entry.amount
    return totals


def income(entries: list[Entry]) -> int:
    return sum(e.amount for e in entries if e.amount > 0)


def expenses(entries: list[Entry]) -> int:
    """What was spent, as a positive amount."""
    return -sum(e.amount for e in entries if e.amount < 0)


def biggest(entries: list[Entry], count: int = 3) -> list[Entry]:
    """The largest amounts either way, largest first."""
    return sorted(entries, key=lambda e: abs(e.amount), reverse=True)[:count]


def savings_rate(entries: list[Entry]) -> int:
    """Whole per cent of the income that was not spent."""
    earned = income(entries)
    if earned == 0:
        return 0
    return (earned - expenses(entries)) * 100 // earned


def statement(account: Account, first: int, last: int) -> str:
    """The entries of some days, both ends included, with the balances before and after."""
    lines = [f"Before: {format_amount(account.balance(first - 1))}"]
    for entry in account.history(newest_first=False):
        if first <= entry.day <= last:
            lines.append(f"{entry.day}: {format_amount(entry.amount)} {entry.note}".rstrip())
    lines.append(f"After: {format_amount(account.balance(last))}")
    return "\n".join(lines)
