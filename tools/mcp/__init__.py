"""Tools of Model Context Protocol servers.

Invariant: what a server says is foreign, its names, descriptions and schemas included; nothing of
it is kept, shown to a model or checked against before it went through `vetting`.
"""

import logging

# The SDK writes what a server sent into its log when it cannot read it, members' words among it.
logging.getLogger("mcp").setLevel(logging.CRITICAL + 1)
