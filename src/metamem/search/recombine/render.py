"""From a genome to a Python file that people can read."""

import ast
import builtins
import textwrap

from metamem.designs.blocks import FAMILIES, Method, imported, plumbing
from metamem.search.recombine.genome import (
    Genome,
    LayerGene,
    SlotGene,
    WholeGene,
    defined,
    with_docstring,
)

_STANDARD = {"Any": "typing", "Counter": "collections", "dataclass": "dataclasses"}
_MODULES = ("difflib", "itertools")
_CONTRACT = ("Experience", "Layer", "Memory", "Query", "Step", "Tools", "Wait", "text")
MEMORY = "Recombined"
RESERVED = ("Row", "Heard", "Whole", MEMORY, *(family.base for family in FAMILIES))


def render(genome: Genome, story: str) -> str:
    """The source of the design; `story` becomes its docstring."""
    names = part_names(genome)
    pieces: list[str] = []
    used = {layer.family.base for layer in genome.layers}
    pieces += [source for base, source in plumbing().bases.items() if base in used]
    wholes = [part for part in genome.parts if isinstance(part, WholeGene)]
    if wholes:
        pieces.append(plumbing().whole)
    seen: set[str] = set()
    for part, name in zip(genome.parts, names, strict=True):
        if isinstance(part, LayerGene):
            pieces.append(_layer(part, name))
            continue
        for node in part.definitions:
            written = ast.unparse(node)
            if written not in seen:  # what two wholes share is written once
                seen.add(written)
                pieces.append(written)
    pieces.append(_memory(genome, names))
    body = "\n\n\n".join(pieces)
    header = f'"""{_docstring(story)}\n"""'
    return f"{header}\n\n{_imports(body, wholes)}\n\n\n{body}\n"


def part_names(genome: Genome) -> list[str]:
    """A class name for each part, all different."""
    taken = set(RESERVED)
    for part in genome.parts:
        if isinstance(part, WholeGene):
            taken |= defined(part.definitions)
    names: list[str] = []
    for part in genome.parts:
        name, number = part.name, 2
        while isinstance(part, LayerGene) and name in taken:
            name, number = f"{part.name}{number}", number + 1
        taken.add(name)
        names.append(name)
    return names


def _docstring(story: str) -> str:
    lines = story.replace("\\", "/").replace('"""', "'''").split("\n")
    return "\n".join(textwrap.fill(line, 96) for line in lines)


def _layer(layer: LayerGene, name: str) -> str:
    lines = [
        f"class {name}({layer.family.base}):",
        *_indented(textwrap.fill(f'"""{layer.does}"""', 92)),
        "",
    ]
    lines += [f"    {constant} = {value!r}" for constant, value in layer.constants.items()]
    for gene in layer.slots.values():
        for method in _documented(gene):
            lines += ["", *_indented(ast.unparse(method))]
    return "\n".join(lines)


def _documented(gene: SlotGene) -> list[Method]:
    """The methods of a slot; the first says what the slot does."""
    words = textwrap.fill(f"{gene.slot.capitalize()}: {gene.does}.", 86)
    first, *more = gene.methods
    return [with_docstring(first, words.replace("\n", "\n    ")), *more]


def _memory(genome: Genome, names: list[str]) -> str:
    parts = [
        f"Whole(tools, {name}(tools.apart({name!r})))"
        if isinstance(part, WholeGene)
        else f"{name}(tools)"
        for part, name in zip(genome.parts, names, strict=True)
    ]
    lines = [
        f"class {MEMORY}(Memory):",
        *_indented(
            textwrap.fill(f'"""Remembers in {len(parts)} ways: {genome.combine.does}."""', 92)
        ),
        "",
        *(f"    {name} = {value!r}" for name, value in genome.constants.items()),
        "",
        "    def __init__(self, tools: Tools) -> None:",
        "        super().__init__(tools)",
        f"        self.parts = [{', '.join(parts)}]",
        "",
        "    async def update(self, experience: Experience) -> None:",
        "        for part in self.parts:",
        "            await part.update(experience)",
        "",
        *plumbing().memory_methods.split("\n"),
    ]
    for method in genome.combine.methods:
        lines += ["", *_indented(ast.unparse(method))]
    return "\n".join(lines)


def _indented(source: str) -> list[str]:
    return textwrap.indent(source, "    ").split("\n")


def _imports(body: str, wholes: list[WholeGene]) -> str:
    """What the body uses, standard library first."""
    used = {n.id for n in ast.walk(ast.parse(body)) if isinstance(n, ast.Name)}
    used -= set(dir(builtins))
    plain = {name: f"import {name}" for name in _MODULES if name in used}
    lines = dict.fromkeys(plain.values())
    lines.update({f"from {m} import {n}": None for n, m in _STANDARD.items() if n in used})
    lines.update({f"from {m} import {n}": None for n, m in imported().items() if n in used})
    for whole in wholes:
        for node in whole.imports:
            for written in split_import(node):
                lines[ast.unparse(written)] = None
    contract = [name for name in _CONTRACT if name in used]
    own = {f"from metamem.designs import {name}" for name in contract}
    first = [line for line in lines if line not in own]
    first.sort(key=lambda x: ("__future__" not in x, "metamem" in x, not x.startswith("import"), x))
    last = f"from metamem.designs import {', '.join(contract)}"
    gap = [""] if first else []
    return "\n".join([*first, *gap, last])


def split_import(node: ast.Import | ast.ImportFrom) -> list[ast.stmt]:
    """One statement for each name."""
    if isinstance(node, ast.Import):
        return [ast.Import([alias]) for alias in node.names]
    return [ast.ImportFrom(node.module, [alias], node.level) for alias in node.names]
