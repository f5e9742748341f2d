"""Exchanges of single ranks joined into collectives, on one clock."""
