"""Numbers that count or point, as wide as numpy wants them on the machine at hand."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def as_index(numbers: ArrayLike) -> NDArray[np.intp]:
    """Return counts or places as numpy takes them in ``repeat``, ``bincount`` and ``reduceat``.

    These refuse int64 where addresses have 32 bits, as in a page (WebAssembly). Elsewhere nothing
    is copied.

    Examples
    --------
    >>> as_index([2, 0, 1]).dtype == np.intp
    True
    """
    return np.asarray(numbers, dtype=np.intp)
