"""phrase: the words of the advice. `SHAPE` says what sort of values they suit (see `keep`)."""

from metamem.designs import text
from metamem.designs.blocks.part import Part


class Steps(Part):
    """as numbered steps"""

    SHAPE = "sequence"

    def phrase(self, found: list[tuple[str, list[str]]]) -> str:
        return "\n\n".join(text.numbered(v.splitlines()) for _, values in found for v in values)


class TitledSteps(Part):
    """as numbered steps, with what was asked as their title"""

    SHAPE = "sequence"

    def phrase(self, found: list[tuple[str, list[str]]]) -> str:
        return "\n\n".join(
            f"{asked}:\n{text.numbered(value.splitlines())}"
            for asked, values in found
            for value in values
        )


class Points(Part):
    """as a list of points"""

    SHAPE = "notes"

    def phrase(self, found: list[tuple[str, list[str]]]) -> str:
        return text.bullets(
            dict.fromkeys(x for _, values in found for v in values for x in v.splitlines())
        )


class Notes(Part):
    """as notes: what was asked, and the values after it"""

    SHAPE = "notes"

    def phrase(self, found: list[tuple[str, list[str]]]) -> str:
        return "\n".join(
            f"{asked}: {', '.join('; '.join(value.splitlines()) for value in values)}"
            for asked, values in found
        )


class Sentence(Part):
    """as a sentence"""

    SHAPE = "sequence"

    def phrase(self, found: list[tuple[str, list[str]]]) -> str:
        return "\n".join(
            f"When it was about {asked}, this was noted: {' and then '.join(value.splitlines())}."
            for asked, values in found
            for value in values
        )


class Warnings(Part):
    """as warnings"""

    SHAPE = "notes"

    def phrase(self, found: list[tuple[str, list[str]]]) -> str:
        lines = dict.fromkeys(x for _, values in found for v in values for x in v.splitlines())
        return "This did not lead anywhere before:\n" + text.bullets(lines)
