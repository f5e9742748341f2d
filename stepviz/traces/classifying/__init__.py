"""What each row is: its kind, its step, what launched it."""
