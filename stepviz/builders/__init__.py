"""Timelines from a recipe."""
