"""A design in words: from what it did, and, apart from that, from what its code says."""

from hypothesis import given
from hypothesis import strategies as st

from metamem.designs.docstrings import docstrings, first_paragraph
from metamem.designs.library import load
from metamem.report.card import says

SOURCE = '''"""A memory of doors.

Stores: doors
and things.

Forgets: nothing.
"""
from metamem.designs import Layer, Memory


class Base(Layer):
    """Plumbing."""


class Doors(Base):
    """Remembers doors."""

    def keep(self, experience):
        """Keep: each door.

        More about it.
        """

    def ask(self, query):
        """Ask: the goal."""

    def forget(self):
        """Forget: the oldest."""

    def _helper(self):
        """Not for readers."""
'''


def test_docstrings_are_sorted_by_what_a_reader_asks():
    assert says(SOURCE) == {
        "parts": ("Doors: Remembers doors.",),
        "stores": ("doors and things.", "Doors: Keep: each door."),
        "retrieves": ("Doors: Ask: the goal.",),
        "forgets": ("nothing.", "Doors: Forget: the oldest."),
    }


def test_human_designs_say_what_they_do():
    for name in ("success_retrieval", "object_places"):
        assert {"stores", "retrieves", "forgets"} <= says(load(name).source).keys()


@given(st.text())
def test_any_source_is_read_without_running_it(source):
    says(source)
    first_paragraph(docstrings(source).get("", ""))
