"""Finds out how an endpoint and its model take tools, in about six tiny requests.

Invariant: what a finding says was seen in an answer, never concluded from a server's name.
"""

from providers.probe.asking import probe
from providers.probe.findings import Findings, settings_that_follow, verdict_that_follows
from providers.probe.words import sentence, table

__all__ = [
    "Findings",
    "probe",
    "sentence",
    "settings_that_follow",
    "table",
    "verdict_that_follows",
]
