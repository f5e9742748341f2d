"""What a run spends besides training: checkpoints, evaluation, restarts, downtime."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from stepviz.errors import ThroughputError
from stepviz.throughput.checks import real

DAY: Final = 86_400.0

#: The parts of the elapsed time, in the order in which they are shown.
PARTS: Final = ("active", "checkpoints", "evaluation", "restarts", "downtime")


@dataclass(frozen=True)
class Overheads:
    """Times that training stands still, s, and how often.

    Failures come at a constant rate per device; each costs a restart and, on average, half of the
    work between two checkpoints (Young 1974, first order).

    Parameters
    ----------
    checkpoint_seconds, checkpoint_every : float
        Stop per checkpoint, and active time between two.
    evaluation_seconds, evaluation_every : float
        The same for evaluation.
    failures_per_device_day : float
        Of all causes that stop the whole job.
    restart_seconds : float
        From a failure to the next update: notice, schedule, load.
    downtime_days : float
        Planned or otherwise outside of the run, in all.
    """

    checkpoint_seconds: float = 0.0
    checkpoint_every: float = 3600.0
    evaluation_seconds: float = 0.0
    evaluation_every: float = 3600.0
    failures_per_device_day: float = 0.0
    restart_seconds: float = 0.0
    downtime_days: float = 0.0

    def __post_init__(self) -> None:
        """Check every number."""
        for name in self.__dataclass_fields__:
            if name.endswith("_every"):
                real(getattr(self, name), name, above=0)
            else:
                real(getattr(self, name), name, least=0)

    @property
    def running(self) -> float:
        """Seconds of running, failures apart, per second of training."""
        checkpoints = self.checkpoint_seconds / self.checkpoint_every
        return 1.0 + checkpoints + self.evaluation_seconds / self.evaluation_every

    @property
    def per_failure(self) -> float:
        """Seconds that one failure costs on average."""
        if not self.failures_per_device_day:
            return 0.0
        return self.restart_seconds + self.running * self.checkpoint_every / 2

    def lost_share(self, devices: float) -> float:
        """Share of the running time that failures cost; at 1 or more nothing is ever done."""
        return devices * self.failures_per_device_day / DAY * self.per_failure

    def parts(self, active: float, devices: float) -> dict[str, float]:
        """Return the elapsed time, s, by part.

        Raises
        ------
        ThroughputError
            Where failures cost more time than there is between them.
        """
        lost = self.lost_share(devices)
        if lost >= 1:
            between = DAY / (devices * self.failures_per_device_day)
            msg = (
                f"{devices:,.0f} devices fail every {between:,.0f} s on average and a failure "
                f"costs {self.per_failure:,.0f} s: the run would never end. Checkpoint more often "
                "or restart faster"
            )
            raise ThroughputError(msg)
        run = active * self.running / (1 - lost)
        return {
            "active": active,
            "checkpoints": active * self.checkpoint_seconds / self.checkpoint_every,
            "evaluation": active * self.evaluation_seconds / self.evaluation_every,
            "restarts": run * lost,
            "downtime": self.downtime_days * DAY,
        }

    def active_of(self, elapsed: float, devices: float) -> float:
        """Return the training time, s, that is left of an elapsed time."""
        run = elapsed - self.downtime_days * DAY
        left = run * (1 - self.lost_share(devices)) / self.running
        if left <= 0:
            msg = (
                f"of {elapsed / DAY:,.2f} days nothing is left for training: "
                f"{self.downtime_days:,.2f} are downtime, and failures cost the rest"
            )
            raise ThroughputError(msg)
        return left

    def devices_for(self, device_seconds: float, elapsed: float) -> float:
        """Return the devices that do so much training, in device-seconds, in an elapsed time.

        More devices fail more often, so beyond some number more do less: the smaller of two
        answers, or an error where there is none.
        """
        run = elapsed - self.downtime_days * DAY
        if run <= 0:
            msg = f"of {elapsed / DAY:,.2f} days {self.downtime_days:,.2f} are downtime: none left"
            raise ThroughputError(msg)
        # devices × run × (1 − devices × loss) = device_seconds × running
        loss, needed = self.lost_share(1.0), device_seconds * self.running / run
        if not loss:
            return needed
        root = 1 - 4 * loss * needed
        if root < 0:
            most = 1 / (2 * loss)
            msg = (
                f"no number of devices does it in {elapsed / DAY:,.2f} days: beyond {most:,.0f} "
                "failures cost more than another device adds. Checkpoint more often, restart "
                "faster, or give it more time"
            )
            raise ThroughputError(msg)
        return 2 * needed / (1 + math.sqrt(root))

    def best_checkpoint_every(self, devices: float) -> float:
        """Return the interval that costs least, s: √(2 × stop × time between failures).

        Young, "A first order approximation to the optimum checkpoint interval", 1974.
        """
        if not self.checkpoint_seconds or not self.failures_per_device_day:
            msg = "the best interval weighs checkpoint_seconds against failures: give both"
            raise ThroughputError(msg)
        between = DAY / (devices * self.failures_per_device_day)
        return math.sqrt(2 * self.checkpoint_seconds * between)
