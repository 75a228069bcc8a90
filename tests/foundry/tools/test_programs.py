"""What a template never takes: each way out with a neighbour, of the same form, that it does take.

A template that took a left-hand command would run it on a person's tree. The controls show that it is
the way out that is refused, and not the form.
"""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from metamem.foundry.tools.operations import NotATool
from metamem.foundry.tools.template import TemplateWriter
from metamem.foundry.tools.tool import Tool
from metamem.foundry.words import Flow, Hole, Parameter, Pieces, Step, Workflow
from tests.foundry.tools.made import bash, git, tree
from tests.foundry.tools.test_template import run

WAYS_OUT: dict[str, tuple[str, str]] = {
    # --- over the network
    "fetch": ("git fetch origin && touch a", "git status && touch a"),
    "pull": ("git pull", "git merge --ff-only topic"),
    "push": ("git push -q", "git commit -qm x"),
    "clone": ("git clone ./repo copy", "cp -r repo copy"),
    "submodule": ("git submodule update --init", "git add sub"),
    "curl to a file": ("curl -o a http://localhost/", "cat b > a"),
    "npm": ("npm install left-pad", "mkdir -p left-pad"),
    "pip by python": ("python -m pip install x", "python -m unittest -q"),
    "mypy that installs": ("mypy --install-types --non-interactive .", "mypy --strict ."),
    "a server by unittest": ("python -m http.server", "python -m unittest tests"),
    "ssh": ("ssh host touch a", "touch host a"),
    "rsync": ("rsync -a . host:", "cp -a src dst"),
    "a device of bash": ("echo a > /dev/tcp/127.0.0.1/80", "echo a > dev/tcp"),
    # --- git that runs or loses something
    "ssh command": ("git -c core.sshCommand=./x commit -m a", "git -c user.name=x commit -m a"),
    "hooks path": ("git -c core.hooksPath=hooks commit -m a", "git -c user.email=x commit -m a"),
    "alias": ("git -c alias.s=!id s", "git -c user.name=s commit -m a"),
    "other git folder": ("git -C sub commit -m a", "cd sub && git commit -m a"),
    "no hooks": ("git commit --no-verify -m a", "git commit --quiet -m a"),
    "no hooks, shortened": ("git commit --no-ver -m a", "git commit --signoff -m a"),
    "no hooks, one letter": ("git commit -nm a", "git commit -qm a"),
    "amend, shortened": ("git commit --amen -m a", "git commit --all -m a"),
    "an editor": ("git commit", "git commit -m a"),
    "a file as message": ("git commit -F ../message", "git commit -m message"),
    "reset": ("git reset --hard HEAD~1", "git revert --no-edit HEAD~1"),
    "clean": ("git clean -fdx", "git rm -r build"),
    "stash": ("git stash drop", "git add -A"),
    "branch away": ("git branch -D topic", "git branch topic"),
    "tag over": ("git tag -f v1", "git tag v1"),
    "switch over": ("git switch --discard-changes main", "git switch main"),
    "checkout of files": ("git checkout -- notes.txt", "git checkout -b topic"),
    "rm by force": ("git rm -rf .", "git rm -r old"),
    "pager": ("git grep --open-files-in-pager=./x a > b", "git grep --name-only a > b"),
    "pager, shortened": ("git grep -O./x a > b", "git grep -l a > b"),
    "config": ("git config core.fsmonitor ./x", "git add config"),
    "merge by a program": ("git merge -s evil topic", "git merge --no-ff -m a topic"),
    "update-index": ("git update-index --index-info", "git add -u"),
    "worktree": ("git worktree add ../x", "git switch -c x"),
    "diff to a file": ("git diff --output=../x", "git diff --stat > x"),
    # --- programs with a second face
    "find that runs": ("find . -exec touch a ;", "find . -name x > a"),
    "find that deletes": ("find . -name x -delete", "find . -name x -print > a"),
    "find that writes": ("find . -fprint a", "find . -print > a"),
    "xargs": ("ls | xargs touch", "ls | tee a"),
    "awk": ("awk 'BEGIN{system(\"id\")}' > a", "cut -d' ' -f1 b > a"),
    "perl": ("perl -e 'unlink <*>'", "tr a b < b > a"),
    "tar": ("tar cf a --checkpoint-action=exec=id .", "cp -a sub a"),
    "sort that runs": ("sort --compress-program=./x b > a", "sort --unique b > a"),
    "sort that runs, shortened": ("sort --compress=./x b > a", "sort -u b > a"),
    "sort outside": ("sort -o../x b", "sort -ox b"),
    "cp outside": ("cp b -t../..", "cp b -tsub"),
    "cp outside by =": ("cp b --target-directory=/tmp", "cp b --no-clobber sub"),
    "tail for ever": ("tail -f log > a", "tail -n3 log > a"),
    "the clock": ("date 010100002030 > a", "date +%F > a"),
    "pytest that empties": ("pytest --basetemp=src", "pytest --maxfail=1"),
    "pytest with a plugin": ("pytest -p evil", "pytest -k good"),
    "pylint that runs": ("pylint --init-hook='import os'", "pylint --quiet src"),
    "env": ("env > a", "date > a"),
    "printenv": ("printenv TOKEN > a", "printf TOKEN > a"),
    "printf that sets": ("printf -v PATH x; touch a", "printf PATH x; touch a"),
    "code for python": ("python -c 'import os' > a", "python tools/size.py > a"),
    "code from a pipe": ("echo id | python", "echo id | tee a"),
    "code from a pipe, sh": ("echo id | sh", "echo id | sort > a"),
    "a program of the tree": ("./run.sh", "python run.py"),
    "make with a shell": ("make SHELL=./x table", "make NAME=x table"),
    "make with flags": ("make --eval='x:;id' x", "make -B x"),
    "make elsewhere": ("make -C ../x", "make -k x"),
    "make with a file": ("make -f /tmp/x", "make -s x"),
    "make that sends": ("make publish", "make table"),
    "make with a command": ("make CC='sh -c id' x", "make CC=gcc x"),
    # --- sed
    "sed that runs": ("sed -i '1e id' a", "sed -i '1d' a"),
    "sed -e joined": ("sed -i -e1eid a", "sed -i -e1d a"),
    "sed -ne joined": ("sed -ne 'w /tmp/x' a > b", "sed -ne 'p' a > b"),
    "sed --expression=": ("sed --expression='s/a/b/w ../x' a > b", "sed --expression='s/a/b/' a > b"),
    "sed --expression": ("sed --expression 'r /etc/passwd' a > b", "sed --expression 'p' a > b"),
    "sed -f": ("sed -i -f script a", "sed -i -e p a"),
    "sed -f joined": ("sed -i -fscript a", "sed -i -ep a"),
    "sed --file": ("sed --file=script -i a", "sed --quiet -i p a"),
    "sed a second script": ("sed -i -e p -e 'e id' a", "sed -i -e p -e d a"),
    "sed backups outside": ("sed -i/tmp/* 's/a/b/' a", "sed -i.bak 's/a/b/' a"),
    "sed backups outside, long": ("sed --in-place=../* s/a/b/ a", "sed --in-place s/a/b/ a"),
    "sed s///e": ("sed -i 's/a/id/ge' a", "sed -i 's/a/id/g' a"),
    "sed that jumps": ("sed -i ':a;s/x/y/;ta' a", "sed -i 's/x/y/;p' a"),
    # --- ways of the shell
    "home": ("cd && touch a", "cd sub && touch a"),
    "back": ("cd - && touch a", "cd sub-2 && touch a"),
    "another path for programs": ("PATH=.; ls > a", "path=.; ls > a"),
    "another home": ("HOME=.; git commit -m a", "home=.; git commit -m a"),
    "our own variables": ("p_name=x; touch a", "q_name=x; touch a"),
    "modules from outside": ("PYTHONPATH=.:/tmp python a.py", "PYTHONPATH=.:lib python a.py"),
    "modules from home": ("PYTHONPATH=.:~/x python a.py", "PYTHONPATH=.:x python a.py"),
    "preloaded": ("LD_PRELOAD=./x.so touch a", "LC_ALL=C touch a"),
    "braces": ("cat {/etc/passwd,b} > a", "cat etc/passwd b > a"),
    "braces to above": ("touch .{.,}/a", "touch ./a"),
    "braces in a pattern": ("grep {x,/etc/passwd} > a", "grep '{x,/etc/passwd}' b > a"),
    "a pattern for above": ("cp a .?/b", "cp a ./b"),
    "names read as options": ("sed -i s/a/b/ *", "sed -i s/a/b/ ./*"),
    "signs by number": ("cat \"\"$'\\x2fetc/passwd' > a", "cat \"\"'x2fetc/passwd' > a"),
    "a line that goes on": ("touch .\\\n./a", "touch \\\n./a"),
    "a line in quotes that goes on": ('touch ".\\\n./a"', 'touch "\\\n./a"'),
    "over a pipe": ("echo a >| ../b", "echo a > b"),
    "both streams": ("echo a &> /tmp/b", "echo a &> b"),
    "a file says where": ("cp a $(cat where)", "cp a where"),
    "a file says where, in quotes": ('cp a "$(cat where)"', 'echo "$(cat where)" > a'),
    "a file says to where": ('echo a > "$(cat where)"', "echo a > where"),
    "a file says which program": ("$(cat what) a", "cat what > a"),
    "a file says which option": ('grep "$(cat what)" b > a', 'grep -e "$(cat what)" b > a'),
    "words without quotes": ("x=$(cat w); grep -e $x b > a", 'x=$(cat w); grep -e "$x" b > a'),
    "a here-document that ends later": (
        "cat > a <<'EOF'\n\tEOF\n$(id)\nEOF\ncurl x",
        "cat > a <<'EOF'\n\tEOF\n$(id)\nEOF\ntouch x",
    ),
    "here-string": ("cat <<< x > a", "echo x > a"),
    "process": ("cat <(id) > a", "cat id > a"),
    # --- what is secret, or obeyed
    "a key": ("cp deploy.pem b", "cp deploy.txt b"),
    "settings of an agent": ("echo a > .claude/settings.json", "echo a > claude/settings.json"),
    "settings of an editor": ("cp a .vscode/tasks.json", "cp a vscode/tasks.json"),
    "hooks of git": ("cp a .GIT/hooks/pre-commit", "cp a hooks/pre-commit"),
    "the folder of git": ("touch sub/.git/x", "touch sub/.gitignore"),
}  # fmt: skip


def written(*steps: Step, **examples: Any) -> Tool:
    parameters = tuple(Parameter(name, examples=(value,)) for name, value in examples.items())
    return TemplateWriter().write(Workflow("Do it", steps, parameters))


@pytest.mark.parametrize("name", WAYS_OUT)
def test_the_way_out_is_refused_and_its_neighbour_is_not(name: str) -> None:
    out, stays = WAYS_OUT[name]
    with pytest.raises(NotATool):
        written(Step("Bash", {"command": out}), bash("touch made"))
    written(Step("Bash", {"command": stays}), bash("touch made"))


SECRET_FILES = {
    "read": Step("Read", {"file_path": ".env"}),
    "write": Step("Write", {"file_path": ".git/hooks/pre-commit", "content": "x"}),
    "settings": Step("Write", {"file_path": ".claude/settings.json", "content": "x"}),
    "edit": Step("Edit", {"file_path": "../x", "old_string": "a", "new_string": "b"}),
}


@pytest.mark.parametrize("name", SECRET_FILES)
def test_files_that_are_secret_obeyed_or_outside_are_refused(name: str) -> None:
    with pytest.raises(NotATool):
        written(SECRET_FILES[name], bash("touch made"))
    arguments = {**SECRET_FILES[name].arguments, "file_path": "src/plain.txt"}
    written(Step(SECRET_FILES[name].tool, arguments), bash("touch made"))


# A tool, a value that would do more than it says, and one of the same form that does not.
VALUES: dict[str, tuple[Step, dict[str, Any], dict[str, Any]]] = {
    "sed runs it": (
        bash('sed -i "s/first/', Hole("a"), '/" notes.txt'), {"a": "x/e;1e touch pwned;#"}, {"a": "x"},
    ),
    "sed: the same hole in two places": (
        bash("sed -i '", Hole("a"), "s/first/", Hole("a"), "/' notes.txt"),
        {"a": "1s/f/f/;1e touch pwned\n#"}, {"a": "1"},
    ),
    "sed -e joined": (
        bash("sed -i -e's/first/", Hole("a"), "/' notes.txt"), {"a": "x/;1e touch pwned;s/x/x"}, {"a": "x"},
    ),
    "sed --expression=": (
        bash("sed -i --expression='s/first/", Hole("a"), "/' notes.txt"),
        {"a": "x/;1e touch pwned;s/x/x"}, {"a": "x"},
    ),
    "sed that writes elsewhere": (
        bash("sed -i '1a ", Hole("a"), "' notes.txt"), {"a": "x\nw ../out"}, {"a": "x w ../out"},
    ),
    "the name of a hook": (
        bash("echo 'touch pwned' > ", Hole("a")), {"a": ".git/hooks/post-commit"}, {"a": "githooks"},
    ),
    "the name of a hook, in two pieces": (
        bash("cp notes.txt .g", Hole("a")), {"a": "it/hooks/post-commit"}, {"a": "itter"},
    ),
    "above, in two pieces": (bash("cp notes.txt .", Hole("a")), {"a": "./out"}, {"a": "out"}),
    "above, from two values": (
        bash("cp notes.txt ", Hole("a"), Hole("b"), "/out"), {"a": ".", "b": "."}, {"a": "pk", "b": "g"},
    ),
    "above, behind an option": (
        bash("sort notes.txt -o", Hole("a")), {"a": "../out"}, {"a": "out"},
    ),
    "outside, behind =": (
        bash("make NAME=", Hole("a"), " it"), {"a": "$(touch pwned)"}, {"a": "x"},
    ),
    "an option of grep": (
        bash("grep ", Hole("a"), " notes.txt > found"), {"a": "-f/etc/passwd"}, {"a": "first"},
    ),
    "an option of printf": (
        bash("printf ", Hole("a"), " x > made"), {"a": "-vPATH"}, {"a": "%s"},
    ),
    "an option, behind an empty value": (
        bash("cp ", Hole("a"), Hole("b"), " notes.txt copy"), {"a": "", "b": "-t/tmp"}, {"a": "VER", "b": "SION"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
def test_no_value_does_more_than_it_says(name: str, tmp_path: Path) -> None:
    step, bad, good = VALUES[name]
    folder = tree(tmp_path / "t")
    (folder / "Makefile").write_text("it:\n\techo $(NAME) > made\n")
    if "an option, behind" in name:
        (folder / "copy").mkdir()
    tool = written(step, **good)
    stopped = run(tool, folder, bad)
    assert stopped.returncode == 2, stopped.stdout
    assert git(folder, "status", "--porcelain", "--untracked-files=no") == ""
    assert not (tmp_path / "out").exists() and not (folder / "pwned").exists()
    assert not list((folder / ".git/hooks").glob("post-commit"))
    assert run(tool, folder, good).returncode == 0


def test_control_without_the_rules_sed_runs_what_a_value_says(tmp_path: Path) -> None:
    folder = tree(tmp_path / "t")
    script = f"s/first/{VALUES['sed -e joined'][1]['a']}/"
    subprocess.run(["sed", "-i", "-e", script, "notes.txt"], cwd=folder, check=True)
    assert (folder / "pwned").exists()


@pytest.mark.parametrize(
    "parts",
    [
        ("git ", Hole("a"), " -m x"),
        ("git commit -", Hole("a"), " x"),
        ("git -c ", Hole("a"), " commit -m x"),
        ("make ", Hole("a")),
        ("python tools/", Hole("a"), ".py"),
        ("python -m unittest ", Hole("a")),
        ("python tools/x.py -", Hole("a")),
        ("sed -i 's/x\\", Hole("a"), "/y/' notes.txt"),
        ("sed -i ", Hole("a"), " notes.txt"),
        ("PYTHONPATH=", Hole("a"), " python x.py"),
        ("cp ", Hole("a"), "* pkg"),
        ("find . -", Hole("a")),
    ],
)
def test_a_value_is_never_a_program_a_verb_a_target_or_an_option(parts: tuple[Any, ...]) -> None:
    with pytest.raises(NotATool):
        written(bash(*parts), bash("touch made"), a="x")


def test_what_a_step_printed_is_data_and_never_a_part_of_a_command(tmp_path: Path) -> None:
    """The output of an earlier step says `$(touch pwned)`; it is written down as those signs."""
    steps = (
        bash("cat notes.txt"),
        Step("Bash", {"command": Pieces(("echo 'found ", Hole("found"), "' > made"))}),
    )
    parameters = (Parameter("found", flow=Flow(0, "first\n", "")),)
    tool = TemplateWriter().write(Workflow("Do it", steps, parameters))
    folder = tree(tmp_path / "t")
    hostile = "'; touch pwned; $(touch pwned) `touch pwned` \"#"
    (folder / "notes.txt").write_text(f"first\n{hostile}\n")
    assert hostile not in tool.program
    assert run(tool, folder, {}).returncode == 0
    assert (folder / "made").read_text() == f"found {hostile}\n"
    assert not (folder / "pwned").exists()
    (folder / "notes.txt").write_text("first\nline\nmore lines\n")
    assert run(tool, folder, {}).returncode == 1
