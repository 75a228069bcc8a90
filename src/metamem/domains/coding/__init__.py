"""Repair of small and large Python projects: the world, its tasks, and their scoring."""
