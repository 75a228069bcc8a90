"""A small repository, and an index of it."""

from pathlib import Path

import pytest

from metamem.knowledge.indexing import Indexer

FILES = {
    "shop/cart.py": '''"""What a customer is about to buy."""

TAX = 0.2


class Cart:
    """Holds lines until they are paid."""

    limit = 10

    def add_line(self, article, count=1):
        """Put an article into the cart."""
        self.lines.append((article, count))

    def total_price(self):
        def taxed(value):
            return value * (1 + TAX)

        return taxed(sum(price * count for price, count in self.lines))


def retry_payment(client, attempts):
    # banks are slow on Mondays
    for attempt in range(attempts):
        if client.charge():
            return attempt
    raise TimeoutError("the bank did not answer")
''',
    "web/search.js": """export class SearchBox {
  focusInput() { return this.input.focus(); }
}

export const debounceTyping = (callback, wait) => {
  return setTimeout(callback, wait);
};
""",
    "README.md": """# Shop

Sells things.

## Installing

Run the installer.

```
# not a heading
```

### On Windows

Use the wizard.
""",
    "notes.txt": "Deploys happen on Tuesdays.\n",
}


def write(root: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


@pytest.fixture
def shop(tmp_path):
    return write(tmp_path / "shop", FILES)


@pytest.fixture
def store(tmp_path):
    return tmp_path / "store"


@pytest.fixture
def indexed(shop, store):
    """The store, with the index `shop` in it."""
    Indexer(store, workers=1).index("shop", [shop])
    return store
