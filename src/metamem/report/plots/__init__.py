"""Plots as inline SVG. Colours come from the page's style, so they follow light and dark."""
