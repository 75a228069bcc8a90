"""The words of metamem as small types, and what everything above shares. Standard library only."""
