"""Tools: registry, surface, dispatch, and the built-in ones."""
