"""From a genome to a design with its story."""

from metamem.core.types import Design
from metamem.search.recombine.genome import Genome
from metamem.search.recombine.render import render


def written(genome: Genome, note: str, operator: str, parents: tuple[str, ...]) -> Design:
    story = [
        f"A memory of {len(genome.parts)} parts: {genome.summary}.",
        "",
        f"What changed: {note}",
    ]
    if operator:
        story.append(f"Operator: {operator}")
    if parents:
        story.append(f"Parents: {', '.join(parents)}")
    return Design(render(genome, "\n".join(story)), name=genome.summary)
