"""What to change next and whether it helped: fits, rankings, verdicts."""

from stepviz.evidence.fits import fit_contention, fit_cost
from stepviz.evidence.rankings import rank_changes

__all__ = ["fit_contention", "fit_cost", "rank_changes"]
