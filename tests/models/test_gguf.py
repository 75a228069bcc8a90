"""A real small model from a GGUF file: set METAMEM_TEST_GGUF to its path to run these."""

import asyncio
import json
import os
from pathlib import Path

import pytest

from metamem.core.chat import Question, Turn
from metamem.models.config import ModelConfig
from metamem.models.structured import fit
from tests.extras import needs

MODEL = os.environ.get("METAMEM_TEST_GGUF", "")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not MODEL, reason="METAMEM_TEST_GGUF names no model file"),
]
if MODEL:
    needs("xllamacpp")
NAME = f"local:{MODEL}"
SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 20}, "age": {"type": "integer"}},
    "required": ["name", "age"],
}


async def test_answers_are_held_to_lists_and_schemas_and_share_batches() -> None:
    model = ModelConfig(options={NAME: {"threads": 1, "window": 1024}}).open(NAME)
    try:
        choices = ("go north", "take the lamp")
        asked = Question((Turn("user", "What now?"),), choices=choices, max_tokens=16)
        answers = await asyncio.gather(*(model.complete(asked) for _ in range(6)))
        assert all(answer.text in choices for answer in answers)
        assert all(answer.usage.input > 0 and answer.usage.output > 0 for answer in answers)
        person = Question((Turn("user", "Name a person."),), schema=SCHEMA, max_tokens=80)
        assert fit((await model.complete(person)).text, SCHEMA)["name"]
    finally:
        await model.close()


def test_a_whole_run_with_a_real_model(metamem, tmp_path: Path) -> None:
    """The documented smoke run: a small agent at small tasks, from the start to the report."""
    config = tmp_path / "metamem.toml"
    config.write_text(f'[model."{NAME}"]\nthreads = 1\nwindow = 1024\n')
    os.environ["METAMEM_CONFIG"] = str(config)
    try:
        said = metamem(
            "evaluate", "no_memory", "success_retrieval", "--domain", "toy", "--agent", "llm",
            "--model", f"agent={NAME}", "--collect", "4", "--split", "valid", "--json", "-q",
            "--home", str(tmp_path / "home"),
        )  # fmt: skip
    finally:
        del os.environ["METAMEM_CONFIG"]
    assert said.code == 0, said.err
    assert [row["tasks"] for row in json.loads(said.out)] == [40, 40]
