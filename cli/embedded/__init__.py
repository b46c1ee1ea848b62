"""The embedded endpoint: a small model and llama.cpp's server on the operator's own machine.

Invariant: nothing here is needed by a bot that has an endpoint URL, and the bot speaks to this
server over HTTP like to any other.
"""
