"""Batches drawn at random, and their counts by loops over the positions."""

from __future__ import annotations

from hypothesis import strategies as st

IGNORED = -100
LABELS = [[IGNORED, IGNORED, 7, 8], [IGNORED, 6, 5, IGNORED]]
MASK = [[1, 1, 1, 1], [1, 1, 1, 0]]
#: Allocated, real, scored, sequences, Σ L² of these two rows.
RIGHT = (8, 7, 4, 2, 25)
#: The lesson's two sequences, of which each predicts its last token: 8 and 6 positions.
LESSON = {
    "padded": {
        "input_ids": [[1, 2, 3, 0], [4, 5, 6, 0]],
        "labels": [[IGNORED, IGNORED, 3, IGNORED], [IGNORED, IGNORED, 6, IGNORED]],
        "attention_mask": [[1, 1, 1, 0], [1, 1, 1, 0]],
        "position_ids": [[0, 1, 2, 0], [0, 1, 2, 0]],
    },
    "packed": {
        "input_ids": [[1, 2, 3, 4, 5, 6]],
        "labels": [[IGNORED, IGNORED, 3, IGNORED, IGNORED, 6]],
        "attention_mask": [[1, 1, 1, 1, 1, 1]],
        "position_ids": [[0, 1, 2, 0, 1, 2]],
    },
}


def by_hand(labels, mask, positions=None):
    """Count position by position: rows of lists, no arrays."""
    allocated = real = scored = sequences = squared = 0
    for r, row in enumerate(labels):
        length = 0
        previous = None
        for i, label in enumerate(row):
            allocated += 1
            if i > 0 and label != IGNORED:
                scored += 1
            if not mask[r][i]:
                continue
            real += 1
            at = positions[r][i] if positions else None
            if previous is not None and at is not None and at <= previous:
                sequences += 1
                squared += length * length
                length = 0
            previous = at
            length += 1
        if length:
            sequences += 1
            squared += length * length
    return allocated, real, scored, sequences, squared


def counted(counts):
    return (
        counts.allocated,
        counts.real,
        counts.scored,
        counts.sequences,
        counts.squared_lengths,
    )


@st.composite
def grids(draw):
    rows, length = draw(st.integers(1, 4)), draw(st.integers(1, 9))
    cell = st.lists(
        st.lists(st.sampled_from([IGNORED, 5, 0]), min_size=length, max_size=length),
        min_size=rows,
        max_size=rows,
    )
    bits = st.lists(
        st.lists(st.integers(0, 1), min_size=length, max_size=length),
        min_size=rows,
        max_size=rows,
    )
    return draw(cell), draw(bits)


@st.composite
def packings(draw):
    """Rows of packed sequences with padding behind: labels, mask, position_ids, by row."""
    length = draw(st.integers(1, 14))
    labels, mask, positions = [], [], []
    for _ in range(draw(st.integers(1, 3))):
        sizes, left = [], length
        while left and draw(st.booleans()):
            sizes.append(draw(st.integers(1, left)))
            left -= sizes[-1]
        mask.append([1] * (length - left) + [0] * left)
        positions.append([p for size in sizes for p in range(size)] + [0] * left)
        cells = st.sampled_from([IGNORED, 7])
        labels.append(draw(st.lists(cells, min_size=length, max_size=length)))
    return labels, mask, positions
