"""The world as an agent meets it."""

import pytest

from metamem.core.errors import DataError
from metamem.domains.coding.actions import show
from metamem.domains.coding.looking import PAGE_LINES
from metamem.domains.coding.world import CodingWorld
from metamem.sandbox import bubblewrap
from tests.domains.coding.shop import FIXED, OTHERS, PATH, SOURCE, TARGETS, project, workbench

jailed = pytest.mark.skipif(not bubblewrap.works(), reason="the isolation bwrap does not work here")


def started(max_steps=30, bench=None, **changes):
    world = CodingWorld(project(**changes), bench or workbench(), max_steps)
    return world, world.reset()


def test_the_first_observation_shows_the_task_and_nothing_privileged():
    _, seen = started()
    assert "leaves out the first price" in seen.text
    assert f"{PATH} (15 lines)" in seen.text
    assert all(test in seen.text for test in TARGETS)
    assert not any(test in seen.text for test in OTHERS)
    assert any(form.startswith("edit_file") for form in seen.actions)
    assert "Failing tests" not in started(visible=[])[1].text


def test_files_are_read_in_pages():
    long = "".join(f"line {n}\n" for n in range(1, 501))
    world, _ = started(files={**project().files, "long.txt": long})
    first = world.step("read_file long.txt")
    assert f"{PAGE_LINES} line {PAGE_LINES}" in first.text and "line 201" not in first.text
    assert f"(more: read_file long.txt {PAGE_LINES + 1})" in first.text
    assert world.step("read_file long.txt 499").text.splitlines()[1:] == [
        " 499 line 499",
        " 500 line 500",
    ]
    assert world.step("read_file long.txt 501").text == "Error: long.txt has lines 1 to 500"
    assert "there is shop/prices.py" in world.step("read_file prices.py").text


def test_search_ranks_the_best_line_first():
    world, _ = started()
    assert world.step("search def cheapest").text.startswith(f"{PATH}:12: def cheapest")
    assert world.step("search sum of the prices").text.startswith(f"{PATH}:5:")
    assert world.step("search zebra").text == "nothing found for 'zebra'"


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "shop/../../x", "x\0y"])
@pytest.mark.parametrize("action", ["read_file", "create_file", "list_dir", "edit_file"])
def test_no_path_leads_out_of_the_project(action, path):
    world, _ = started()
    more = {"create_file": {"content": ""}, "edit_file": {"content": ""}}.get(action, {})
    assert world.step(show(action, path=path, **more)).text.startswith("Error")


def test_edits_need_one_place_and_can_be_undone():
    world, _ = started()
    assert (
        "occurs 2 times"
        in world.step(show("edit_file", path=PATH, find="result ", replace="r ")).text
    )
    assert (
        "does not occur" in world.step(show("edit_file", path=PATH, find="zebra", replace="")).text
    )
    edited = world.step(show("edit_file", path=PATH, find="result ", replace="sum ", line=8))
    assert edited.text == f"Edited line 8 of {PATH}."
    assert "sum += price" in world.step(f"read_file {PATH}").text
    world.step(show("create_file", path="shop/new.py", content="x = 1\n"))
    assert world.step("undo").text == "Undone: shop/new.py"
    assert world.step("undo").text == f"Undone: {PATH}"
    assert "nothing to undo" in world.step("undo").text
    assert "sum += price" not in world.step(f"read_file {PATH}").text


def test_files_and_folders_do_not_collide():
    world, _ = started()
    assert "is a folder" in world.step(show("create_file", path="shop", content="")).text
    assert "is a file" in world.step(show("create_file", path=f"{PATH}/x", content="")).text
    assert "exists" in world.step(show("create_file", path=PATH, content="")).text
    assert "no file can hold" in world.step(show("create_file", path="x", content="\ud800")).text


@jailed
def test_an_honest_repair_is_rewarded_at_submit():
    world, _ = started()
    ran = world.step("run_command pytest -q")
    assert f"FAILED {TARGETS[0]}" in ran.text and "E   AssertionError: 5 == 6" in ran.text
    assert "2 failed, 3 passed" in ran.text and not ran.done
    world.step(show("edit_file", path=PATH, find="prices[1:]", replace="prices"))
    assert "5 passed\n(exit code 0)" in world.step("run_command python -m pytest").text
    seen = world.step("submit")
    assert (seen.reward, seen.done) == (1.0, True)


@jailed
def test_a_part_is_worth_a_part_and_a_broken_test_everything():
    world, _ = started()
    world.step(show("edit_file", path=PATH, find="prices[1:]", replace="prices[-1:]"))
    assert world.step("submit").reward == 0.5
    world, _ = started()
    broken = FIXED.replace("return min", "return max")
    world.step(show("edit_file", path=PATH, content=broken))
    seen = world.step("submit")
    assert seen.reward == 0.0 and "broken" in seen.text


@jailed
def test_the_last_step_counts_as_submitted():
    world, _ = started(max_steps=2)
    assert not world.step(show("edit_file", path=PATH, content=FIXED)).done
    seen = world.step("list_dir")
    assert (seen.reward, seen.done) == (1.0, True)


@jailed
def test_commands_change_the_tree_and_their_failures_are_answered():
    world, _ = started(bench=workbench(command_seconds=2, output_chars=500))
    assert "(exit code 3)" in world.step("run_command exit 3").text
    assert "ended after 2 s" in world.step("run_command sleep 60").text
    assert "characters left out" in world.step("run_command seq 10000").text
    world.step("run_command sed -i 's/1:/0:/' shop/prices.py; echo hi > note; ln -s /etc/passwd l")
    assert "hi" in world.step("read_file note").text
    assert "no file" in world.step("read_file l").text
    assert "Undone: note, shop/prices.py" in world.step("undo").text
    assert "prices[1:]" in world.step(f"read_file {PATH}").text


@jailed
def test_a_command_that_computes_for_ever_is_ended_by_its_cpu_time():
    world, _ = started(bench=workbench(command_cpu=1))
    assert "killed" in world.step("run_command python -c 'while True: pass'").text


@jailed
def test_outcomes_are_kept_and_give_the_same_again(tmp_path):
    bench = workbench(tmp_path)
    told = []
    for _ in range(2):
        world, _ = started(bench=bench)
        told.append(
            [world.step(a) for a in ("run_command date +%N; touch x", "list_dir", "submit")]
        )
    assert told[0] == told[1]
    other = workbench(tmp_path)  # as another worker would see it
    assert other.command({"a": SOURCE}, "cat a") == bench.command({"a": SOURCE}, "cat a")
    assert other._outcomes.hits == 0 and bench._outcomes.hits == 3


def test_a_task_says_what_is_wrong_with_it():
    with pytest.raises(DataError, match="in no file"):
        project(fail_to_pass=["tests/test_none.py::test_x"])
    with pytest.raises(DataError, match="at least one"):
        project(fail_to_pass=[])
    with pytest.raises(DataError, match="cannot be called"):
        project(files={"../x": ""})
