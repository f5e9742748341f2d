"""The tracks of an exported trace: what was recorded and what was found, written as slices."""
