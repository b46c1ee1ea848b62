"""calculate: arithmetic that a language model would guess at.

Invariant: an expression is worked out in the worker process, never evaluated as code.
"""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from prompt.values import Rate
from tools.registry import Tool, ToolContext, ToolFailure, tool
from tools.worker.jobs import LONGEST_EXPRESSION
from tools.worker.process import JobFailed, Worker

_RATE = Rate(calls=30, seconds=60)
_SECONDS = 5.0


def calculating_tools(worker: Worker) -> Sequence[Tool]:
    """The tool calculate."""

    @tool(read_only=True, rate=_RATE)
    async def calculate(
        context: ToolContext,
        *,
        expression: Annotated[
            str,
            Field(
                min_length=1,
                max_length=LONGEST_EXPRESSION,
                description="such as (3+4)*2^5, 15% of 80, sqrt(2)",
            ),
        ],
    ) -> str:
        """Work out arithmetic exactly."""
        try:
            found = await worker.run("calculate", {"expression": expression}, seconds=_SECONDS)
        except JobFailed as error:
            raise ToolFailure(str(error)) from error
        return str(found["text"])

    return (calculate,)
