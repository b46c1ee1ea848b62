"""A tag for each tool: `<get_weather><city>Oslo</city></get_weather>`, as Cline-style prompts ask.

The tags are those of the tools on offer, so there is no table of markers; the engine asks here
when it meets one.
"""

from collections.abc import Iterable

from prompt.values import ToolSpec
from providers.verbatim.arguments import parameter_names
from providers.verbatim.candidate import Candidate
from providers.verbatim.elements import ElementReader, Elements
from providers.verbatim.scanner import Wait, Words


class _Tags(ElementReader):
    def _opening(
        self, c: Candidate, marker: str, pos: int
    ) -> Wait[tuple[str, bool | None, int] | None]:
        return marker[1:-1], None, pos
        yield


class ToolTags:
    """The tags of one surface's tools."""

    def __init__(self, specs: Iterable[ToolSpec]) -> None:
        self._specs = {f"<{spec.name}>".lower(): spec for spec in specs}
        self.openers = Words(self._specs)

    def read(self, c: Candidate, marker: str, pos: int) -> Wait[int | None]:
        """Read the element of the tool whose tag `marker` ends at `pos`."""
        spec = self._specs[marker]
        names = parameter_names(spec)
        reader = _Tags(
            Elements(
                parameter=tuple(f"<{name}>" for name in names),
                parameter_end=tuple(f"</{name}>" for name in names),
                function_end=(f"</{spec.name}>",),
                wrapper_end=("</tool_call>", "</function_calls>"),
                common=True,
            )
        )
        return (yield from reader.read(c, spec.name, c.start, pos))
