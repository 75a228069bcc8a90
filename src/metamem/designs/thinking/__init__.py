"""Parts for memories that think: models learned from steps, search, plans, and how to say them.

Each is one small file that knows no domain, chance or clock; a design imports what it needs, as in
`from metamem.designs.thinking.search import search`. Their state is plain: it can be saved.
"""
