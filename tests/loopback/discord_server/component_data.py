"""What Discord's own client sends when a member uses a component or submits a modal.

Invariant: pure. What the official client would not let a member do raises here, and never
reaches the application.
"""

from collections.abc import Mapping, Sequence

from tests.loopback.discord_server.limits import Limits
from tests.loopback.discord_server.model import Message, walk_components
from tests.loopback.discord_server.wire import ComponentKind, Payload, objects


def find_component(message: Message, name: str) -> Payload:
    """The component of a message with that custom id or label, if it can be used."""
    with_id = [c for c in walk_components(message.components) if c.get("custom_id")]
    for component in with_id:
        if name in (component["custom_id"], component.get("label")):
            if component.get("disabled"):
                raise ValueError(f"component {name!r} is disabled")
            return component
    offered = [component.get("label") or component["custom_id"] for component in with_id]
    raise LookupError(f"the message has no component {name!r}, only {offered}")


def press_data(button: Payload) -> Payload:
    """The data of a pressed button."""
    return _component_data(button)


def choose_data(select: Payload, values: Sequence[str]) -> Payload:
    """The data of a select, with the values that a member chose."""
    options = [option["value"] for option in objects(select.get("options"))]
    low, high = select.get("min_values", 1), select.get("max_values", 1)
    if not low <= len(values) <= high:
        raise ValueError(f"the select takes {low} to {high} values, not {len(values)}")
    if select["type"] == ComponentKind.STRING_SELECT and not set(values) <= set(options):
        raise ValueError(f"the select offers {options}, not {list(values)}")
    return {**_component_data(select), "values": list(values)}


def _component_data(component: Payload) -> Payload:
    return {
        "custom_id": component["custom_id"],
        "component_type": component["type"],
        "id": component.get("id", 0),
    }


def modal_data(
    modal: Payload, values: Mapping[str, str | Sequence[str]], limits: Limits
) -> Payload:
    """The data of a submitted modal; fields are named by custom id or label."""
    holders = objects(modal["components"])
    fields = [(holder, field) for holder in holders if (field := _field_of(holder)) is not None]
    unknown = set(values) - {name for pair in fields for name in _names(*pair)}
    if unknown:
        raise ValueError(f"the modal has no such fields: {sorted(unknown)}")
    submitted: list[Payload] = []
    for holder, field in fields:
        name = next((name for name in _names(holder, field) if name in values), None)
        filled = _fill(field, _untouched(field) if name is None else values[name], limits)
        inside: Payload = (
            {"component": filled}
            if holder["type"] == ComponentKind.LABEL
            else {"components": [filled]}
        )
        submitted.append({"type": holder["type"], "id": 0, **inside})
    return {"custom_id": modal["custom_id"], "components": submitted}


def _names(holder: Payload, field: Payload) -> tuple[str, ...]:
    """What a member, or a test, may call a field of a modal."""
    names = (field["custom_id"], holder.get("label"), field.get("label"))
    return tuple(name for name in names if name)


def _field_of(holder: Payload) -> Payload | None:
    """The one field in a label or a row; None for a text that stands between them."""
    children = objects(holder.get("components"))
    inner: Payload | None = holder.get("component") or (children[0] if children else None)
    return inner if inner is not None and "custom_id" in inner else None


def _untouched(field: Payload) -> str | Sequence[str]:
    """What a field holds that a member left as it was."""
    if field["type"] == ComponentKind.TEXT_INPUT:
        return str(field.get("value") or "")
    return [option["value"] for option in objects(field.get("options")) if option.get("default")]


def _fill(field: Payload, entered: str | Sequence[str], limits: Limits) -> Payload:
    filled: Payload = {
        "type": field["type"],
        "custom_id": field["custom_id"],
        "id": field.get("id", 0),
    }
    if field["type"] != ComponentKind.TEXT_INPUT:
        return filled | {"values": list(choose_data(field, entered)["values"])}
    text = str(entered)
    low = field.get("min_length") or (1 if field.get("required", True) else 0)
    high = field.get("max_length") or limits.text_input
    if len(text) > high or (len(text) < low and (text or field.get("required", True))):
        name = field["custom_id"]
        raise ValueError(f"field {name!r} takes {low} to {high} characters, not {len(text)}")
    return filled | {"value": text}
