"""Copies of a design are recognised whatever they are dressed in."""

import pytest

from metamem import evaluate
from metamem.core.errors import DataError
from metamem.designs import library
from metamem.evaluation.rules import Rules
from metamem.search.novelty import behaviours, syntax_key

PLAIN = """
class Inner:
    SIZE = 3
    def look(self, deep: int) -> str:
        return str(deep)

class Outer(Memory):
    def make(self):
        return Inner().look(Inner.SIZE)
"""
DRESSED = '''"""A file."""
# a comment
class Nested:
    """Something else."""

    SIZE = (3)

    def look(self, deep):
        """Words."""
        return str(deep)


class Whole(Memory):
    def make(self):
        return Nested().look(Nested.SIZE)
'''


def test_cosmetic_copies_have_the_same_key():
    assert syntax_key(PLAIN) == syntax_key(DRESSED)


@pytest.mark.parametrize(
    ("old", "new"),
    [("SIZE = 3", "SIZE = 4"), ("Inner().look", "Outer().look"), ("str(deep)", "repr(deep)")],
)
def test_a_change_of_code_changes_the_key(old, new):
    assert syntax_key(PLAIN) != syntax_key(PLAIN.replace(old, new))


def test_exchanged_class_names_are_still_a_copy():
    swapped = PLAIN.replace("Inner", "X").replace("Outer", "Inner").replace("X", "Outer")
    assert syntax_key(PLAIN) == syntax_key(swapped)


def test_a_body_of_only_a_docstring_is_like_pass():
    assert syntax_key('def f():\n    """Nothing."""') == syntax_key("def f():\n    pass")


def test_the_human_designs_are_all_different():
    keys = {syntax_key(library.load(name).source) for name in library.names()}
    assert len(keys) == len(library.names())


def test_what_is_not_python_is_refused():
    with pytest.raises(DataError):
        syntax_key("class :")


@pytest.mark.parametrize(("ask_every", "known"), [(0, 1), (2, 0)])
def test_silence_before_the_first_action_is_all_only_where_nothing_is_asked_later(
    tmp_path, ask_every, known
):
    rules = Rules(tasks=3, collect=0, ask_every=ask_every)
    (silent,) = evaluate(["no_memory"], "toy", "train", home=tmp_path, rules=rules)
    tasks = [row.task_id for row in silent.rows]
    assert len(behaviours({"silent": silent}, tasks)) == known
