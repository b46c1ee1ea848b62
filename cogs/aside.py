"""What Discord and the network may do to a request, whatever that is for.

Invariant: names of errors alone; whoever meets one decides what it means there.
"""

import aiohttp

NETWORK_ERRORS = (aiohttp.ClientError, OSError, TimeoutError)
"""What discord.py lets through when a connection breaks."""
