"""key: what is compared, of what is asked and of what values are about."""

from metamem.designs import text
from metamem.designs.blocks.part import Part


class Literal(Part):
    """the text itself"""

    def key(self, about: str) -> str:
        return about


class WithoutNumbers(Part):
    """the text in lower case without numbers"""

    def key(self, about: str) -> str:
        return text.kinds(about).lower()


class WordSet(Part):
    """the words that carry meaning, whatever their order"""

    def key(self, about: str) -> str:
        return " ".join(sorted(text.content_words(about)))


class Pattern(Part):
    """the words with those left out that actions have been about: what sort of text it is"""

    def key_notice(self, actions: tuple[str, ...]) -> None:
        for action in actions:
            self.things.update(text.objects(action))

    def key(self, about: str) -> str:
        return " ".join("_" if w in self.things else w for w in text.words(about))


class CommonWords(Part):
    """only the words that many of the texts share"""

    SHARE = 0.2

    def key(self, about: str) -> str:
        enough = self.SHARE * len(self.store)
        return " ".join(w for w in text.content_words(about) if self.filed[w] >= enough)


class RareWords(Part):
    """only the words that few of the texts share"""

    SHARE = 0.2

    def key(self, about: str) -> str:
        enough = self.SHARE * len(self.store)
        return " ".join(w for w in text.content_words(about) if self.filed[w] <= enough)


class Stems(Part):
    """the beginnings of the words, so that forms of a word are alike"""

    LETTERS = 4

    def key(self, about: str) -> str:
        return " ".join(word[: self.LETTERS] for word in text.content_words(about))
