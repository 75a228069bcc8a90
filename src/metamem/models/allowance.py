"""A budget of tokens and money that is never exceeded, not even by calls under way."""

import asyncio
from dataclasses import dataclass

from metamem.core.errors import AllowanceSpent, UsageError


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a run may spend on models in all. Zero: no limit of that kind."""

    tokens: int = 0
    money: float = 0.0  # dollars

    def __post_init__(self) -> None:
        if self.tokens < 0 or self.money < 0:
            raise UsageError("a budget cannot be negative")

    def after(self, tokens: int, money: float) -> "Allowance":
        """What remains; where nothing does, too little for any call, since zero is no limit."""
        return Allowance(
            max(1, self.tokens - tokens) if self.tokens else 0,
            max(1e-12, self.money - money) if self.money else 0.0,
        )


class Purse:
    """Holds back the worst case of every call until its true cost is known."""

    def __init__(self, allowance: Allowance, tokens: int = 0, money: float = 0.0) -> None:
        self.allowance = allowance
        self.tokens, self.money = tokens, money  # spent, by this and earlier processes
        self._held_tokens, self._held_money, self._under_way = 0, 0.0, 0
        self._settled = asyncio.Condition()

    def check_price(self, money: float | None) -> None:
        """What a call costs must be known where there is a budget of money."""
        if self.allowance.money and money is None:
            raise UsageError(
                "a budget of money needs a price, and this model's is not known",
                hint="give its price in the config file, or set a budget of tokens instead",
            )

    async def hold(self, tokens: int, money: float | None) -> None:
        """Reserve for one call. Waits while what others give back could make it fit."""
        self.check_price(money)
        async with self._settled:
            while not self._fits(tokens, money or 0.0):
                if not self._under_way:
                    raise AllowanceSpent(
                        self._words(), hint="raise the budget and go on with the run"
                    )
                await self._settled.wait()
            self._held_tokens += tokens
            self._held_money += money or 0.0
            self._under_way += 1

    async def settle(self, held: tuple[int, float | None], spent: tuple[int, float | None]) -> None:
        """Give back what one call reserved, and take what it cost."""
        async with self._settled:
            self._held_tokens -= held[0]
            self._held_money -= held[1] or 0.0
            self._under_way -= 1
            self.tokens += spent[0]
            self.money += spent[1] or 0.0
            self._settled.notify_all()

    def _fits(self, tokens: int, money: float) -> bool:
        limit = self.allowance
        if limit.tokens and self.tokens + self._held_tokens + tokens > limit.tokens:
            return False
        return not limit.money or self.money + self._held_money + money <= limit.money + 1e-12

    def _words(self) -> str:
        limit = self.allowance
        parts = []
        if limit.tokens:
            parts.append(f"{self.tokens:,} of {limit.tokens:,} tokens")
        if limit.money:
            parts.append(f"${self.money:.4f} of ${limit.money:.4f}")
        return f"the budget does not allow another call: {' and '.join(parts)} spent"
