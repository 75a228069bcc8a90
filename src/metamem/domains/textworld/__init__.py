"""TextWorld: treasure hunts, cooking and coin collecting in the real engine."""
