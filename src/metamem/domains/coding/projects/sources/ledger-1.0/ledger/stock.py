"""Things on the shelf."""

from dataclasses import dataclass


@dataclass
class Item:
    code: str
    count: int = 0
    price: int = 0
    reorder: int = 5  # order more at this count or below


class Stock:
    def __init__(self) -> None:
        self.items: dict[str, Item] = {}

    def add(self, code: str, count: int = 1, price: int = 0) -> Item:
        """More of an item; its price becomes the average of all pieces, rounded down."""
        if count < 1:
            raise ValueError("add at least one")
        key = code.strip().upper()
        item = self.items.setdefault(key, Item(key))
        total = item.count * item.price + count * price
        item.count += count
        item.price = total // item.count
        return item

    def get(self, code: str) -> Item:
        key = code.strip().upper()
        if key not in self.items:
            raise KeyError(f"no item {key}")
        return self.items[key]

    def remove(self, code: str, count: int = 1) -> int:
        """Take pieces off the shelf; what they are worth."""
        item = self.get(code)
        if count > item.count:
            raise ValueError("not enough on the shelf")
        item.count -= count
        return count * item.price

    def value(self) -> int:
        return sum(item.count * item.price for item in self.items.values())

    def to_order(self) -> list[str]:
        """What runs out, the scarcest first, equals by code."""
        low = [item for item in self.items.values() if item.count <= item.reorder]
        return [item.code for item in sorted(low, key=lambda item: (item.count, item.code))]

    def dearest(self, count: int = 3) -> list[str]:
        ranked = sorted(self.items.values(), key=lambda item: (-item.price, item.code))
        return [item.code for item in ranked[:count]]
