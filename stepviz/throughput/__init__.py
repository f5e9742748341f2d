"""Tokens, FLOPs, peaks and plans: what a throughput number counts, and what it takes to say so."""
