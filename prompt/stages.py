"""The stages of a prompt, in sending order.

Invariant: a stage is a pure function from the snapshot to items of its own zone. STAGES is the
one place that orders them; zones in it never go back.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from prompt import demonstrations as worked
from prompt.defused import defused
from prompt.demonstrations import ACKNOWLEDGEMENT, EXAMPLE_CLOCK
from prompt.dialogue import turn_item
from prompt.knowledge import knowledge_items
from prompt.snapshot import Snapshot
from prompt.surface import advertisement
from prompt.taught import LATER_HEADER, definitions_text
from prompt.values import PromptItem, Zone
from prompt.verbatim import verbatim_active, wire_mode

TOOL_DEFINITIONS_TAG = "knowledge_verbatim_tool_definitions"

NUDGE = "(Tool or words.)"
"""Last in every prompt, and short: worked turns hold it too. docs/prompt.md has what was measured
with other wordings and without."""


def persona(snapshot: Snapshot) -> Sequence[PromptItem]:
    """Who the bot is."""
    return _system("persona", snapshot.persona)


def server_rules(snapshot: Snapshot) -> Sequence[PromptItem]:
    """What the guild's admins ask of it."""
    return _system("server_rules", snapshot.server_rules)


def demonstrations(snapshot: Snapshot) -> Sequence[PromptItem]:
    """Worked turns with made-up tools, some of them with the lines that end a live turn."""
    lines = [
        *([EXAMPLE_CLOCK] if snapshot.config.clock == "tail" else []),
        *([NUDGE] if snapshot.config.nudge else []),
    ]
    return [
        PromptItem(tag="demonstrations", role=role, text=text, zone=Zone.STABLE)
        for role, text in worked.demonstrations("\n\n".join(lines))
    ]


def tool_definitions(snapshot: Snapshot) -> Sequence[PromptItem]:
    """The tools of this turn: exactly the array of the `tools` field, as JSON."""
    text = definitions_text(snapshot.surface.block, LATER_HEADER)
    return [
        PromptItem(tag=TOOL_DEFINITIONS_TAG, role="user", text=text, zone=Zone.STABLE),
        PromptItem(
            tag="verbatim_acknowledgement",
            role="assistant",
            text=ACKNOWLEDGEMENT,
            zone=Zone.STABLE,
        ),
    ]


def deferred_names(snapshot: Snapshot) -> Sequence[PromptItem]:
    """Names of the tools that only a search shows."""
    if wire_mode(snapshot.config, snapshot.verdict, snapshot.surface) == "off":
        return []
    return _system("deferred_tools", advertisement(snapshot.surface.advertised))


def pinned_notes(snapshot: Snapshot) -> Sequence[PromptItem]:
    """What the guild's admins want remembered always."""
    return _system("pinned_notes", snapshot.pinned_notes)


def dialogue(snapshot: Snapshot) -> Sequence[PromptItem]:
    """What was said, tool exchanges included, up to the message to be answered."""
    return [turn_item(turn) for turn in snapshot.dialogue]


def knowledge(snapshot: Snapshot) -> Sequence[PromptItem]:
    """What the guild's documents say, retrieved for this turn."""
    return knowledge_items(snapshot.snippets)


def images(snapshot: Snapshot) -> Sequence[PromptItem]:
    """The newest images themselves. Behind the dialogue, whose words only name them: an image that
    stood there would have to leave it later, and all that follows would change with it."""
    told = list(snapshot.unseen)
    if snapshot.images:
        names = "; ".join(image.description for image in snapshot.images)
        told.insert(0, f"images, in this order: {names}")
    if not told:
        return []
    text = f"[{'; '.join(told)}]"
    return [PromptItem(tag="images", role="user", text=text, zone=Zone.TAIL, parts=snapshot.images)]


def clock(snapshot: Snapshot) -> Sequence[PromptItem]:
    """The minute and who takes part. User role: system text would be merged into the head."""
    told = [_minute(snapshot)] if snapshot.config.clock == "tail" else []
    if len(snapshot.participants) > 1:
        told.append(f"in this conversation: {', '.join(map(defused, snapshot.participants))}")
    if not told:
        return []
    return [PromptItem(tag="clock", role="user", text=f"[{'; '.join(told)}]", zone=Zone.TAIL)]


def clock_in_head(snapshot: Snapshot) -> Sequence[PromptItem]:
    """The minute as system text, where an admin prefers that to a head that stays the same."""
    return _system("clock", _minute(snapshot)) if snapshot.config.clock == "head" else []


def _minute(snapshot: Snapshot) -> str:
    now = snapshot.now
    return f"{now:%A}, {now.day} {now:%B %Y}, {now:%H:%M %Z}"


def nudge(snapshot: Snapshot) -> Sequence[PromptItem]:
    """One line that reminds of tools without arguing for them."""
    if not snapshot.config.nudge:
        return []
    return [PromptItem(tag="verbatim_nudge", role="user", text=NUDGE, zone=Zone.TAIL)]


def _system(tag: str, text: str) -> Sequence[PromptItem]:
    if not text.strip():
        return []
    return [PromptItem(tag=tag, role="system", text=text.strip(), zone=Zone.STABLE)]


Build: TypeAlias = Callable[[Snapshot], Sequence[PromptItem]]


@dataclass(frozen=True, slots=True)
class Stage:
    """A named step. `verbatim` stages run together or not at all."""

    build: Build
    verbatim: bool = False

    @property
    def name(self) -> str:
        """As reports and snapshots call it."""
        return self.build.__name__

    def applies(self, snapshot: Snapshot) -> bool:
        """Whether this stage has its place in the prompt of `snapshot`."""
        return not self.verbatim or verbatim_active(
            snapshot.config, snapshot.verdict, snapshot.surface
        )


STAGES: tuple[Stage, ...] = (
    Stage(persona),
    Stage(server_rules),
    Stage(clock_in_head),
    Stage(demonstrations, verbatim=True),
    Stage(tool_definitions, verbatim=True),
    Stage(deferred_names),
    Stage(pinned_notes),
    Stage(dialogue),
    Stage(knowledge),
    Stage(images),
    Stage(clock),
    Stage(nudge, verbatim=True),
)
