"""Which device this machine has: asked of torch where it is loaded already, else of the driver."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import Any, Final

from stepviz.errors import ThroughputError

#: A driver that does not answer in this time, s, does not answer.
PATIENCE: Final = 20

_INSTEAD: Final = "name it, such as peak('H100 SXM', 'bf16')"


def device_at_hand() -> str:
    """Return the name of the device at hand, as its driver calls it.

    torch is asked only where the program has imported it, because it alone knows which devices
    are visible to this process; it is never imported for this.

    Returns
    -------
    str

    Raises
    ------
    ThroughputError
        Where there is none, several kinds, or a slice of one (MIG).
    """
    names = _from_torch(sys.modules.get("torch"))
    if names is None:
        names = _from_driver()
    kinds = sorted(set(names))
    if not kinds:
        msg = f"no device is at hand: {_INSTEAD}"
        raise ThroughputError(msg)
    if len(kinds) > 1:
        msg = f"devices of several kinds are at hand ({', '.join(kinds)}): {_INSTEAD}"
        raise ThroughputError(msg)
    return kinds[0]


def _from_torch(torch: Any) -> list[str] | None:
    """Return the names of visible devices, or None where torch has none to ask about."""
    cuda = getattr(torch, "cuda", None)
    try:
        if cuda is None or not cuda.is_available():
            return None
        return [str(cuda.get_device_name(i)) for i in range(cuda.device_count())]
    except (AttributeError, AssertionError, RuntimeError):
        return None  # built or half loaded without devices: the driver may know


def _from_driver() -> list[str]:
    command = shutil.which("nvidia-smi")
    if command is None:
        msg = f"no device is at hand: there is no nvidia-smi on PATH. Otherwise {_INSTEAD}"
        raise ThroughputError(msg)
    query = [command, "--query-gpu=name,mig.mode.current", "--format=csv,noheader"]
    try:
        answer = subprocess.run(  # noqa: S603  # a fixed query to the program that PATH names
            query, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        msg = f"nvidia-smi did not answer ({error}): {_INSTEAD}"
        raise ThroughputError(msg) from None
    if answer.returncode != 0:
        said = (answer.stderr or answer.stdout).strip().splitlines()
        msg = f"nvidia-smi failed ({said[0] if said else answer.returncode}): {_INSTEAD}"
        raise ThroughputError(msg)
    names = []
    for line in answer.stdout.splitlines():
        name, _, mig = (part.strip() for part in line.partition(","))
        if mig == "Enabled":
            msg = (
                f"{name} is cut into slices (MIG), and the sheet's peak is the whole device's: "
                "give the peak of your slice"
            )
            raise ThroughputError(msg)
        if name:
            names.append(name)
    return names
