"""The families of models whose way to write calls is known, one module each."""
