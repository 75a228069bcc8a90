"""A page as a browser would take it apart."""

from html.parser import HTMLParser

VOID = {"meta", "br", "hr", "img", "link", "input", "base"}


class Page(HTMLParser):
    """Elements, attributes and text. `problems` lists what is not well-formed."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.problems: list[str] = []
        self._text: list[str] = []
        self._open: list[str] = []
        self.feed(source)
        self.close()
        self.problems += [f"never closed: {tag}" for tag in self._open]

    @property
    def text(self) -> str:
        return "".join(self._text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if not self._open or self._open[-1] != tag:
            self.problems.append(f"</{tag}> closes {self._open[-1:]}")
        else:
            self._open.pop()

    def handle_data(self, data):
        self._text.append(data)
