"""Servers on 127.0.0.1 that stand for Discord and for a model endpoint, over real sockets."""
