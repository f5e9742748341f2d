"""A step as one file to attach to a ticket: what was found, how far it holds, where it is from."""

from __future__ import annotations

from stepviz.reports.written import report

__all__ = ["report"]
