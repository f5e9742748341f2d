"""A profiler file from disk to exact rows of one rank."""
