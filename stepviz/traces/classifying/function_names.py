"""The function a kernel runs, out of the long name that a compiler gives it."""

from __future__ import annotations

import re
from typing import Final

_RETURNS: Final = re.compile(r"^(void|__global__|static|inline)\s+")
_MANGLED: Final = re.compile(r"[KVr]*(\d{1,4})")
_UNNAMED: Final = re.compile(r"\(anonymous namespace\)::|<unnamed>::|_GLOBAL__N_\w*::")


def function_name(name: str) -> str:
    """Return a kernel's function with its namespaces, without templates and parameters.

    Names that a compiler mangled are taken apart as far as their namespaces go.

    Examples
    --------
    >>> function_name("void at::native::reduce_kernel<512, 1, ReduceOp<float> >(ReduceOp)")
    'at::native::reduce_kernel'
    >>> function_name("_ZN7deep_ep9intranode8dispatchILi8EEEvPfS1_")
    'deep_ep::intranode::dispatch'
    """
    name = name.strip()
    if name.startswith("_Z"):
        return _demangled(name)
    while (shorter := _RETURNS.sub("", name)) != name:
        name = shorter
    name = _UNNAMED.sub("", name)
    for sign in ("<", "("):
        at = name.find(sign)
        # A name that begins with a sign is no function: keep it whole.
        if at > 0:
            name = name[:at]
    return name.strip()


def _demangled(name: str) -> str:
    at = 3 if name.startswith("_ZN") else 2
    parts = []
    while found := _MANGLED.match(name, at):
        length = int(found[1])
        part = name[found.end() : found.end() + length]
        at = found.end() + length
        if not part.startswith("_GLOBAL__N_"):
            parts.append(part)
    return "::".join(parts) or name
