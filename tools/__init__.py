"""Set-up and developer helpers; nothing here ships in the wheel."""
