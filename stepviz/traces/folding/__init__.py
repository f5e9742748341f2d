"""A step cut into pieces, counted, and gathered into bars to drag."""
