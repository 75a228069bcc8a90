"""form: the form in which a value is kept."""

from metamem.designs import text
from metamem.designs.blocks.part import Part


class AsItIs(Part):
    """as it is"""

    def form(self, value: str) -> str:
        return value


class Kinds(Part):
    """without numbers: kinds of things, not single ones"""

    def form(self, value: str) -> str:
        return text.kinds(value)


class OneOfEach(Part):
    """each line once"""

    def form(self, value: str) -> str:
        return "\n".join(dict.fromkeys(value.splitlines()))


class ObjectsOnly(Part):
    """only what each line is about, without its first word and function words"""

    def form(self, value: str) -> str:
        lines = (" ".join(text.objects(line)) for line in value.splitlines())
        return "\n".join(line for line in lines if line)


class FirstWords(Part):
    """only the first word of each line"""

    def form(self, value: str) -> str:
        return "\n".join(text.first_word(line) for line in value.splitlines())


class FewLines(Part):
    """only the first few lines"""

    LINES = 12

    def form(self, value: str) -> str:
        return "\n".join(value.splitlines()[: self.LINES])
