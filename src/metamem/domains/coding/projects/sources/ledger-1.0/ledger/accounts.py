"""Accounts and what moves between them."""

from dataclasses import dataclass, field


@dataclass
class Entry:
    day: int
    amount: int
    note: str = ""


@dataclass
class Account:
    name: str
    limit: int = 0  # how far the balance may go below zero
    entries: list[Entry] = field(default_factory=list)

    def balance(self, day: int | None = None) -> int:
        """The balance at the end of a day, or of all days."""
        return sum(e.amount for e in self.entries if day is None or e.day <= day)

    def deposit(self, day: int, amount: int, note: str = "") -> None:
        if amount <= 0:
            raise ValueError("deposit a positive amount")
        self.entries.append(Entry(day, amount, note.strip()))

    def withdraw(self, day: int, amount: int, note: str = "") -> None:
        if amount <= 0:
            raise ValueError("withdraw a positive amount")
        if self.balance() - amount < -self.limit:
            raise ValueError("not enough money")
        self.entries.append(Entry(day, -amount, note.strip()))

    def history(self, newest_first: bool = True) -> list[Entry]:
        return sorted(self.entries, key=lambda e: e.day, reverse=newest_first)

    def find(self, text: str) -> list[Entry]:
        wanted = text.strip().lower()
        return [e for e in self.entries if wanted in e.note.lower()]


def transfer(source: Account, target: Account, day: int, amount: int) -> None:
    if source is target:
        raise ValueError("source and target are the same")
    source.withdraw(day, amount, f"to {target.name}")
    target.deposit(day, amount, f"from {source.name}")


def net_worth(accounts: list[Account]) -> int:
    return sum(account.balance() for account in accounts)


def lowest(account: Account) -> int:
    """The lowest balance over the days, 0 before the first entry."""
    low = total = 0
    for entry in account.history(newest_first=False):
        total += entry.amount
        low = min(low, total)
    return low
