"""What scripted models answer when they are asked for a tool."""

import re

from metamem.core.chat import Question

RIGHT = """import re


def steps(v):
    old = re.search(r"[0-9.]+", read("VERSION")).group()
    edit("VERSION", old, v["version"])
    shell(
        'git -c user.name=Dev -c user.email=dev@example.com commit -qam "Release $p_version"',
        {"version": v["version"]},
    )
"""
WRONG = RIGHT.replace("Release", "Version")


def right(question: Question) -> str:
    return f"Here it is.\n\n```python\n{RIGHT}```\n"


def second_time(question: Question) -> str:
    """No Python at first; right once it is told what was wrong."""
    if "cannot be used yet" in question.turns[-1].text:
        return right(question)
    return "```python\ndef steps(v)\n    pass\n```"


def wrong_first(question: Question) -> str:
    """Can be used, and does not do what was recorded."""
    if "HEAD differs" in question.turns[-1].text:
        return right(question)
    return f"```python\n{WRONG}```"


def never(question: Question) -> str:
    return "I would rather not."


def released(version: str, change: str) -> str:
    """What a release of the shop does, as an author would write it."""
    return f'''import re


def steps(v):
    old = re.search(r"[0-9.]+", read("VERSION")).group()
    for path in ("VERSION", "pkg/__init__.py"):
        edit(path, old, v["{version}"], True)
    before = read("CHANGELOG.md").split("\\n")
    before.insert(2, "## " + v["{version}"] + ": " + v["{change}"] + " made")
    write("CHANGELOG.md", "\\n".join(before))
    shell(
        'git -c user.name=Dev -c user.email=dev@example.com commit -qam "Release $p_version"',
        {{"version": v["{version}"]}},
    )
    shell('git tag "v$p_version"', {{"version": v["{version}"]}})
'''


def release(question: Question) -> str:
    names = re.findall(r'"name": "(\w+)",\s+"kind"', question.turns[1].text)
    return f"```python\n{released(*names[:2])}```"
