"""One turn: gather, assemble, stream, run tools, go on, present, store."""
