"""metamem designs import: a file is tried in the jail and put into the archive."""

import re

import pytest

from metamem.core.types import Design
from metamem.store.sqlite import SqliteArchive
from tests.cli.conftest import program

OURS = '''
from metamem.designs import Memory


class Echo(Memory):
    """Says what the last goal was."""

    last = ""

    async def retrieve(self, query):
        return self.last

    async def update(self, experience):
        self.last = experience.goal
'''

ALMA = """
from agents.memo_structure import Sub_memo_layer, MemoStructure
from eval_envs.base_envs import Basic_Recorder
from utils.hire_agent import Agent, Embedding
from langchain_chroma import Chroma


class Lessons(MemoStructure):
    def __init__(self):
        super().__init__()
        self.database = Chroma(embedding_function=Embedding())

    async def general_retrieve(self, recorder: Basic_Recorder):
        return {"lessons": [d.page_content for d in self.database.similarity_search(recorder.init["obs"])]}

    async def general_update(self, recorder: Basic_Recorder):
        schema = {"lesson": {"type": "string"}, "mood": {"type": "string", "enum": ["good", "bad"]}}
        reply = await Agent("Find the lesson.", output_schema=schema).ask(str(recorder.steps))
        self.database.add_texts([reply["lesson"]], [{"mood": reply["mood"]}])
"""


@pytest.fixture
def written(tmp_path):
    def write(source, name="mine.py"):
        path = tmp_path / name
        path.write_text(source)
        return path

    return write


@pytest.mark.parametrize(("source", "asks"), [(OURS, False), (ALMA, True)], ids=["ours", "alma"])
def test_a_design_that_runs_is_kept_as_it_is(metamem, written, tmp_path, source, asks):
    home = tmp_path / "home"
    said = metamem("designs", "import", written(source), "--home", home, "--json")
    assert (said.code, said.err) == (0, "")
    design = Design(source)
    assert said.json == {
        "id": design.id,
        "name": "mine",
        "new": True,
        "asks_a_model": asks,
        "remarks": [],
    }
    with SqliteArchive(home / "archive.db", create=False) as archive:
        (record,) = archive.designs()
        kept = archive.design(record.id)
    assert (kept, kept.name) == (design, "mine")
    assert record.created_by == "import"


def test_it_tells_what_to_do_next(metamem, written, tmp_path):
    path = written(ALMA)
    first = metamem("designs", "import", path, "--name", "lessons", "--home", tmp_path)
    start = Design(ALMA).id[:8]
    assert first.code == 0
    assert "lessons" in first.out and "asks a language model" in first.out
    assert f"metamem evaluate {start} --domain NAME" in first.out
    again = metamem("designs", "import", path, "--name", "other", "--home", tmp_path)
    assert again.code == 0 and "was in the archive already" in again.out
    assert "lessons" in again.out  # the first name given to it stays


def test_an_imported_design_is_evaluated_by_its_id(metamem, written, tmp_path):
    design = ALMA.replace('await Agent("Find the lesson.", output_schema=schema).ask', "self._made")
    design += '\n    def _made(self, text):\n        return {"lesson": text[:80], "mood": "good"}\n'
    assert metamem("designs", "import", written(design), "--home", tmp_path).code == 0
    played = metamem(
        "evaluate", Design(design).id[:8], "--domain", "toy", "--home", tmp_path, "--json"
    )
    assert played.code == 0
    assert played.json[0]["failures"] == 0


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("def broken(:", "failed to load: SyntaxError"),
        ("x = 1", "defines no subclass of metamem.designs.Memory"),
        (OURS.replace("experience.goal", "experience.gaol"), "failed to learn.*gaol.*line 14"),
        (
            OURS.replace("return self.last", "return 7"),
            "failed to advise.*text or a dict.*, not int",
        ),
        (ALMA.replace("langchain_chroma", "chromadb"), "chromadb is not available.*line 5"),
        (ALMA.replace("def general_update", "def update"), "does not define general_update"),
    ],
)
def test_what_does_not_run_is_not_kept(metamem, written, tmp_path, source, complaint):
    home = tmp_path / "home"
    said = metamem("designs", "import", written(source), "--home", home)
    assert (said.code, said.out) == (1, "")
    assert "Traceback" not in said.err
    assert re.search(complaint, said.err)
    assert not (home / "archive.db").exists()


def test_what_is_odd_is_remarked(metamem, written, tmp_path):
    odd = OURS.replace("self.last = experience.goal", "self.last = lambda: 1").replace(
        "return self.last", "return str(self.last())"
    )
    said = metamem("designs", "import", written(odd), "--home", tmp_path, "--json")
    assert said.code == 0
    asked_early, unsaved = said.json["remarks"]
    assert "before it has learned" in asked_early and "not callable" in asked_early
    assert "rebuilt by replay" in unsaved and "lambda" in unsaved


def test_a_file_that_is_not_there(metamem, tmp_path):
    said = metamem("designs", "import", tmp_path / "none.py", "--home", tmp_path)
    assert said.code == 2 and "there is no file" in said.err


def test_a_file_that_is_not_text(metamem, tmp_path):
    (tmp_path / "x.py").write_bytes(b"\xff\xfe\x00")
    said = metamem("designs", "import", tmp_path / "x.py", "--home", tmp_path)
    assert said.code == 3 and "not a text file" in said.err


def test_designs_still_lists(metamem):
    assert "success_retrieval" in metamem("designs").out
    assert metamem("designs", "list", "--json").json == metamem("designs", "--json").json
    assert "class " in program("designs", "show", "no_memory").stdout
