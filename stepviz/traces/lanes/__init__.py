"""What a viewer draws of a step: its lanes as sorted arrays, and what a screen needs of them."""
