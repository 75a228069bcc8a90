"""The tools a design gets from outside. Their version is part of every fingerprint."""

from metamem.designs.toolbox.hit import Hit
from metamem.designs.toolbox.table import Table
from metamem.designs.toolbox.text_index import TextIndex
from metamem.designs.toolbox.tools import HostLink, Tools

TOOLBOX_VERSION = "2"  # raise it whenever a tool may give another result than before

__all__ = ["TOOLBOX_VERSION", "Hit", "HostLink", "Table", "TextIndex", "Tools"]
