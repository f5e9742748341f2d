"""One graph over all ranks of a step: its critical path, its replay, its what-ifs."""
