"""What every cog's commands mean, judged by a Discord that others wrote: SimCord, in the process.

The loopback Discord tries delivery, limits and faults over real sockets; here it is about who sees
a command, who may use it, and who sees the answer. Not here: cogs that no member can do anything
with, tests of endpoints, which need one that answers, and what waits for another member's press,
which SimCord takes for an answer that never comes.
"""
