"""Value types and the staged prompt builder.

Invariant: pure. Nothing here does I/O, reads the clock or imports an SDK, so the live turn,
a snapshot command and a golden test run the same code on the same values.
"""
