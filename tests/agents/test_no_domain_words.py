"""The agents hold no vocabulary of any domain: neither in strings nor in names of their code."""

import ast
import io
import re
import tokenize
from pathlib import Path

import metamem.agents
from metamem.agents.text import FUNCTION_WORDS, tokens
from metamem.domains import toy
from metamem.domains.alfworld.domain import AlfworldDomain

FOLDER = Path(metamem.agents.__file__).parent


def domain_words() -> set[str]:
    """Every word of every action on the oracle's way through many games, and of their goals."""
    domain = AlfworldDomain(data="generated", train=300)
    words: set[str] = set()
    for task in domain.tasks("train"):
        world = domain.world(task, 0)
        words.update(tokens(task.goal))
        words.update(w for action in world.reset().actions for w in tokens(action))
        for step in domain.oracle(task).splitlines():
            words.update(w for action in world.step(step).actions for w in tokens(action))
    words.update(toy.THINGS, toy.DOORS)
    return {word for word in words if not word.isdigit()} - FUNCTION_WORDS


PYTHON = {"find", "slice"}  # words of the language that the repairer mends, and of households


def code_words(source: str) -> set[str]:
    """Words in names and in strings other than docstrings; comments are prose for people."""
    tree = ast.parse(source)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and isinstance(node.body[0], ast.Expr)
    }
    texts = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in docstrings
    ]
    names = [
        token.string
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.NAME
    ]
    split = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", " ".join([*texts, *names])).replace("_", " ")
    return set(tokens(split))


def test_the_vocabulary_is_large_enough_to_mean_something() -> None:
    words = domain_words()
    assert {"take", "open", "microwave", "mug", "cabinet", "heat", "lantern"} <= words
    assert len(words) > 100


def test_no_agent_knows_a_word_of_a_domain() -> None:
    words = domain_words()
    for path in sorted(FOLDER.glob("*.py")):
        known = words - PYTHON if path.name.startswith("repair") else words
        assert not code_words(path.read_text()) & known, path.name


def test_function_words_name_no_action_and_no_thing() -> None:
    domain = AlfworldDomain(data="generated", train=20)
    for task in domain.tasks("train"):
        actions = domain.world(task, 0).reset().actions
        assert not any(tokens(action)[0] in FUNCTION_WORDS for action in actions)
