"""What a refused request is told.

Invariant: every error code that the server can answer with stands in `Problem`; the shape of
the nested `errors` object is made in this module only.
"""

from enum import Enum

from tests.loopback.discord_server.wire import Payload


class Problem(Enum):
    """HTTP status, Discord's JSON error code, and its words."""

    UNAUTHORIZED = (401, 0, "401: Unauthorized")
    UNKNOWN_CHANNEL = (404, 10003, "Unknown Channel")
    UNKNOWN_GUILD = (404, 10004, "Unknown Guild")
    UNKNOWN_MEMBER = (404, 10007, "Unknown Member")
    UNKNOWN_MESSAGE = (404, 10008, "Unknown Message")
    UNKNOWN_USER = (404, 10013, "Unknown User")
    UNKNOWN_WEBHOOK = (404, 10015, "Unknown Webhook")
    UNKNOWN_INTERACTION = (404, 10062, "Unknown interaction")
    UNKNOWN_COMMAND = (404, 10063, "Unknown application command")
    FOREIGN_APPLICATION = (
        403,
        20012,
        "You are not authorized to perform this action on this application",
    )
    TOO_MANY_COMMANDS = (400, 30032, "Maximum number of application commands reached.")
    TOO_LARGE = (413, 40005, "Request entity too large")
    FILE_TOO_LARGE = (400, 40005, "Request entity too large")
    ALREADY_ACKNOWLEDGED = (400, 40060, "Interaction has already been acknowledged.")
    NO_USER_AGENT = (403, 40333, "internal network error")
    MISSING_ACCESS = (403, 50001, "Missing Access")
    FOREIGN_MESSAGE = (403, 50005, "Cannot edit a message authored by another user")
    EMPTY_MESSAGE = (400, 50006, "Cannot send an empty message")
    NOT_A_TEXT_CHANNEL = (400, 50008, "Cannot send messages in a non-text channel")
    MISSING_PERMISSIONS = (403, 50013, "Missing Permissions")
    INVALID_WEBHOOK_TOKEN = (401, 50027, "Invalid Webhook Token")
    INVALID_RECIPIENT = (400, 50033, "Invalid Recipient(s)")
    INVALID_FORM = (400, 50035, "Invalid Form Body")
    THREAD_ARCHIVED = (400, 50083, "Thread is archived")
    INVALID_JSON = (400, 50109, "The request body contains invalid JSON.")
    THREAD_EXISTS = (400, 160004, "A thread has already been created for this message")
    THREAD_LOCKED = (403, 160005, "Thread is locked")


class ApiError(Exception):
    """A request that is refused; becomes the answer's status and body."""

    def __init__(self, problem: Problem, errors: Payload | None = None) -> None:
        self.status, self.code, self.message = problem.value
        self.errors = errors
        super().__init__(f"{self.status} {self.code}: {self.message}")

    def body(self) -> Payload:
        """The JSON object that the client receives."""
        body: Payload = {"message": self.message, "code": self.code}
        if self.errors:
            body["errors"] = self.errors
        return body


def form_error(path: str, code: str, message: str) -> ApiError:
    """A 50035 that points at the field at `path`, a dotted path; "" is the body itself."""
    node: Payload = {"_errors": [{"code": code, "message": message}]}
    for part in reversed(path.split(".") if path else []):
        node = {part: node}
    return ApiError(Problem.INVALID_FORM, node)


def too_long(path: str, limit: int) -> ApiError:
    """The field at `path` holds more than `limit` characters or items."""
    return form_error(path, "BASE_TYPE_MAX_LENGTH", f"Must be {limit} or fewer in length.")


def bad_length(path: str, limit: int) -> ApiError:
    """The field at `path` is empty or holds more than `limit` characters or items."""
    message = f"Must be between 1 and {limit} in length."
    return form_error(path, "BASE_TYPE_BAD_LENGTH", message)


def missing(path: str) -> ApiError:
    """The field at `path` is required."""
    return form_error(path, "BASE_TYPE_REQUIRED", "This field is required")


def bad_choice(path: str, allowed: object) -> ApiError:
    """The field at `path` holds none of the values that are `allowed`."""
    return form_error(path, "BASE_TYPE_CHOICES", f"Value must be one of {allowed}.")


def not_a_list(path: str) -> ApiError:
    """The field at `path` must be a list."""
    return form_error(path, "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType")


def out_of_range(path: str, low: int, high: int) -> ApiError:
    """The number at `path` lies outside of `low` to `high`."""
    message = f"int value should be between {low} and {high}."
    return form_error(path, "NUMBER_TYPE_MAX", message)


def not_an_id(path: str, value: object) -> ApiError:
    """The field at `path` holds something else than an id."""
    return form_error(path, "NUMBER_TYPE_COERCE", f'Value "{value}" is not snowflake.')
