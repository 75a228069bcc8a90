"""MiniHack: small NetHack levels, told in words."""
