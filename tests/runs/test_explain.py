"""What a design's parts and the steps to it are worth, measured on the toy domain."""

from pathlib import Path

import metamem
from metamem.api import open_home, running
from metamem.core.types import Design
from metamem.designs.library import load
from metamem.evaluation.evaluator import Evaluator
from metamem.evaluation.jobs import Spec
from metamem.report.page import render_report
from metamem.runs.config import LearnConfig
from metamem.runs.explain import Explanation, explain
from metamem.search.ablation import variants

# The first section tells where the thing was found; the second is chatter.
PLANTED = '''"""Where things were found, and chatter."""

from metamem.designs import Memory


class FoundAndChatter(Memory):
    """Where things were found, and chatter."""

    def __init__(self, tools):
        super().__init__(tools)
        self.doors = {}

    async def retrieve(self, query):
        door = self.doors.get(query.goal)
        return f"{door}\\n\\nIt is a fine day." if door else ""

    async def update(self, experience):
        if experience.reward > 0 and len(experience.steps) > 1:
            self.doors[experience.goal] = experience.steps[-2].action
'''
ADVICE = "open the red door\n\nIt is a fine day."


async def explained(home: Path, design: Design, line: list[Design]) -> Explanation:
    with open_home(home) as archive:
        async with running(archive, Spec("inline")) as executor:
            evaluator = Evaluator(archive, executor, LearnConfig(Spec("toy")).setup())

            async def play(designs):
                return {
                    d.id: (await evaluator.evaluate(d, "valid", purpose="explanation")).evaluation
                    for d in designs
                }

            return await explain(design, line, variants(design, [ADVICE]), play)


async def test_the_part_that_carries_the_gain_is_found_and_chatter_is_worth_nothing(tmp_path):
    found = await explained(tmp_path, Design(PLANTED), [load("no_memory")])
    carrying, chatter = found.parts
    assert "section 1" in carrying.what and "section 2" in chatter.what
    assert carrying.low > 0
    assert chatter.gain == chatter.low == chatter.high == 0.0
    (step,) = found.steps
    assert step.design == Design(PLANTED).id and step.low > 0
    assert found.tasks == 40


async def test_steps_add_up_to_the_whole_way(tmp_path):
    line = [load("success_retrieval"), load("trajectory_retrieval"), load("no_memory")]
    found = await explained(tmp_path, Design(PLANTED), line)
    assert [s.design for s in found.steps] == [line[1].id, line[0].id, Design(PLANTED).id]
    direct = await explained(tmp_path, Design(PLANTED), line[-1:])
    assert abs(sum(s.gain for s in found.steps) - direct.steps[0].gain) < 1e-9


def test_a_run_ends_with_its_explanation_and_the_report_shows_it(tmp_path):
    small = {"designs": 10, "batch": 4, "confirm": 2, "confirm_seeds": 0, "shortlist": 1}
    result = metamem.learn(
        "toy", home=tmp_path, run="toy", executor=Spec("inline"), control=False, seed=5,
        proposer=Spec("tests.runs.changing:Changing"), **small,
    )  # fmt: skip
    told = result.summary.explanation
    assert told.tasks == 40 and told.steps
    assert told.steps[-1].design == result.summary.learned
    with open_home(tmp_path) as archive:
        page = render_report(archive, "toy")
    assert "this step is worth" in page
    assert "such as the advice named" not in page
    assert ("What each part is worth" in page) == bool(told.parts)


def test_taking_apart_can_be_left_out(tmp_path):
    small = {"designs": 2, "batch": 2, "confirm": 1, "confirm_seeds": 0, "shortlist": 1}
    result = metamem.learn(
        "toy", home=tmp_path, executor=Spec("inline"), control=False, explain=False, **small
    )
    assert result.summary.explanation is None
