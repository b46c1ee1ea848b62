"""Says why a job cannot be done.

Invariant: the text is for the model and for members; it repeats nothing of the document.
"""


class JobRefused(Exception):
    """A document or expression that cannot be worked on. The text says why, and what would help."""
