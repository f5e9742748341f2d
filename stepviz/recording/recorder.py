"""Recorder placeholder."""


class Recorder:
    """To come."""
