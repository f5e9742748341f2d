"""What was mended or left out of one file, in sentences and in numbers."""

from __future__ import annotations


class Repairs(list[str]):
    """Sentences for people, with counts of what was dropped and what was repaired."""

    def __init__(self) -> None:
        super().__init__()
        self.dropped = 0
        self.repaired = 0

    def drop(self, count: int, sentence: str) -> None:
        """Note that `count` events are gone."""
        self.dropped += count
        self.append(sentence)

    def mend(self, count: int, sentence: str) -> None:
        """Note that `count` things were changed so that the rest can be used."""
        self.repaired += count
        self.append(sentence)

    def copy(self) -> Repairs:
        """Return the same, to go on with separately."""
        other = Repairs()
        other.extend(self)
        other.dropped, other.repaired = self.dropped, self.repaired
        return other


def events(count: int) -> str:
    """Return "1 event" or "7 events"."""
    return f"{count} event" if count == 1 else f"{count} events"
