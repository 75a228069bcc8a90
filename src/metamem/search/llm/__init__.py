"""`llm`: a language model reflects on a design, plans the next one, writes it and repairs it."""

from metamem.search.llm.proposer import LlmProposer

__all__ = ["LlmProposer"]
