"""How much of anything the server allows, and for how long.

Invariant: no other module holds such a number. Values marked (observed) are not documented
by Discord and may differ from what it does today: tests vary them, nothing is built on them.
All others are in Discord's developer documentation or its OpenAPI document.
"""

from dataclasses import dataclass, field

MEBIBYTE = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """A rate limit: so many requests in a window, in seconds, that the first of them opens."""

    requests: int
    seconds: float


def observed_buckets() -> dict[str, Bucket]:
    """Rate limits by bucket name (observed)."""
    return {
        "message_post": Bucket(requests=5, seconds=5.0),
        "message_patch": Bucket(requests=5, seconds=5.0),
        "message_delete": Bucket(requests=5, seconds=1.0),
        "messages_get": Bucket(requests=5, seconds=5.0),
        "typing": Bucket(requests=5, seconds=5.0),
        "reaction": Bucket(requests=1, seconds=0.25),
        "webhook": Bucket(requests=5, seconds=2.0),
        "commands": Bucket(requests=5, seconds=20.0),
        "channel": Bucket(requests=5, seconds=15.0),
        "threads": Bucket(requests=5, seconds=15.0),
        "dm": Bucket(requests=10, seconds=10.0),
    }


@dataclass(slots=True, kw_only=True)
class Limits:
    """Limits of one server. Mutable, so that a test can tighten one while it runs.

    Lengths are in code points, times in seconds unless the name says otherwise.
    """

    # Messages
    content: int = 2000
    nonce: int = 25
    nonce_memory: float = 180.0  # "the past few minutes"
    file_bytes: int = 10 * MEBIBYTE
    request_bytes: int = 25 * MEBIBYTE
    files: int = 10  # (observed)
    history_page: int = 100

    # Polls
    poll_question: int = 300
    poll_answers: int = 10
    poll_answer: int = 55
    poll_hours: int = 768

    # Embeds
    embeds: int = 10
    embed_total: int = 6000
    embed_title: int = 256
    embed_description: int = 4096
    embed_fields: int = 25
    embed_field_name: int = 256
    embed_field_value: int = 1024
    embed_footer: int = 2048
    embed_author: int = 256

    # Components
    action_rows: int = 5
    row_buttons: int = 5
    custom_id: int = 100
    button_label: int = 80
    select_options: int = 25
    select_option_text: int = 100
    placeholder: int = 150
    component_depth: int = 5  # (observed)
    v2_components: int = 40
    v2_text: int = 4000  # over all text displays of a message
    modal_title: int = 45
    modal_components: int = 5
    label: int = 45
    label_description: int = 100
    text_input_placeholder: int = 100
    text_input: int = 4000

    # Application commands
    command_name: int = 32
    command_description: int = 100
    command_options: int = 25
    command_choices: int = 25
    choice_name: int = 100
    choice_value: int = 100
    command_chars: int = 8000
    commands: int = 100
    string_option: int = 6000

    # Channels
    channel_name: int = 100
    typing: float = 10.0

    # Interactions
    acknowledge: float = 3.0
    interaction_token: float = 15 * 60.0

    # Gateway
    frame_bytes: int = 4096
    frames: int = 120
    frames_window: float = 60.0
    heartbeat_ms: int = 41_250  # (observed)
    resume: float = 120.0  # "a few minutes"
    replay: int = 2000  # events kept for a resume (observed)
    identifies_per_day: int = 1000
    shards: int = 1  # how many Discord recommends to this bot
    identify_concurrency: int = 1
    identify_window: float = 5.0

    # REST
    requests_per_second: int = 50
    buckets: dict[str, Bucket] = field(default_factory=observed_buckets)

    # Content delivery
    link_lifetime: float = 24 * 3600.0  # (observed)
