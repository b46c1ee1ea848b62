"""What a message's or a modal's components may hold.

Invariant: pure. A rule either passes or raises the ApiError that Discord answers with.
"""

from collections.abc import Mapping
from typing import Any, cast

from tests.loopback.discord_server.errors import (
    bad_length,
    form_error,
    missing,
    not_a_list,
    too_long,
)
from tests.loopback.discord_server.limits import Limits
from tests.loopback.discord_server.model import walk_components
from tests.loopback.discord_server.wire import ButtonStyle, ComponentKind, Payload, objects

SELECTS = frozenset(
    {
        ComponentKind.STRING_SELECT,
        ComponentKind.USER_SELECT,
        ComponentKind.ROLE_SELECT,
        ComponentKind.MENTIONABLE_SELECT,
        ComponentKind.CHANNEL_SELECT,
    }
)
LAYOUT_ONLY = frozenset(
    {
        ComponentKind.SECTION,
        ComponentKind.TEXT_DISPLAY,
        ComponentKind.THUMBNAIL,
        ComponentKind.MEDIA_GALLERY,
        ComponentKind.FILE,
        ComponentKind.SEPARATOR,
        ComponentKind.CONTAINER,
    }
)
ANONYMOUS_BUTTONS = frozenset({ButtonStyle.LINK, ButtonStyle.PREMIUM})


def check_components(
    components: Any, limits: Limits, *, layout: bool = False, modal: bool = False
) -> None:
    """A whole tree. `layout` is the second version of components, chosen by a message flag."""
    if not isinstance(components, list):
        raise not_a_list("components")
    top = cast("list[Payload]", components)
    if not layout and not modal:
        if len(top) > limits.action_rows:
            raise bad_length("components", limits.action_rows)
        for i, component in enumerate(top):
            if component.get("type") != ComponentKind.ACTION_ROW:
                message = 'Value of field "type" must be one of (1,).'
                raise form_error(f"components.{i}", "UNION_TYPE_CHOICES", message)
    check = _TreeCheck(limits, layout_allowed=layout or modal)
    for i, component in enumerate(top):
        check.visit(component, f"components.{i}", 0)
    if layout and check.count > limits.v2_components:
        message = f"The total number of components cannot exceed {limits.v2_components}"
        raise form_error("components", "COMPONENT_LAYOUT_MAX", message)
    if check.text > limits.v2_text:
        message = f"The total displayable text size exceeds the maximum size of {limits.v2_text}"
        raise form_error("components", "COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED", message)


class _TreeCheck:
    """One walk over a tree of components: what is counted is counted over the whole of it."""

    def __init__(self, limits: Limits, *, layout_allowed: bool) -> None:
        self._limits = limits
        self._layout_allowed = layout_allowed
        self._custom_ids: set[str] = set()
        self.count = 0
        self.text = 0

    def visit(self, component: Payload, path: str, depth: int) -> None:
        self.count += 1
        kind = component.get("type")
        if depth > self._limits.component_depth or not isinstance(kind, int):
            raise form_error(path, "UNION_TYPE_CHOICES", "This is no component.")
        if kind in LAYOUT_ONLY and not self._layout_allowed:
            message = "This type of component needs MessageFlags.IS_COMPONENTS_V2"
            raise form_error(path, "UNION_TYPE_CHOICES", message)
        self._check_custom_id(component, path)
        for key, most in self._lengths(kind).items():
            if len(component.get(key) or "") > most:
                raise too_long(f"{path}.{key}", most)
        if kind == ComponentKind.BUTTON:
            self._check_button(component, path)
        elif kind == ComponentKind.STRING_SELECT:
            self._check_options(component, path)
        elif kind == ComponentKind.TEXT_DISPLAY:
            self._count_text(component, path)
        elif kind == ComponentKind.ACTION_ROW:
            self._check_row(component, path)
        for i, child in enumerate(objects(component.get("components"))):
            self.visit(child, f"{path}.components.{i}", depth + 1)
        for key in ("component", "accessory"):
            if isinstance(component.get(key), dict):
                self.visit(component[key], f"{path}.{key}", depth + 1)

    def _lengths(self, kind: int) -> Mapping[str, int]:
        """The longest texts of a component, by field."""
        limits = self._limits
        if kind in SELECTS:
            return {"placeholder": limits.placeholder}
        if kind == ComponentKind.LABEL:
            return {"label": limits.label, "description": limits.label_description}
        if kind == ComponentKind.TEXT_INPUT:
            return {"label": limits.label, "placeholder": limits.text_input_placeholder}
        return {}

    def _check_custom_id(self, component: Payload, path: str) -> None:
        kind = component["type"]
        named = kind in SELECTS or kind == ComponentKind.TEXT_INPUT
        if kind == ComponentKind.BUTTON:
            named = component.get("style") not in ANONYMOUS_BUTTONS
        if not named:
            return
        custom_id = component.get("custom_id")
        if not custom_id:
            raise missing(f"{path}.custom_id")
        if len(custom_id) > self._limits.custom_id:
            raise too_long(f"{path}.custom_id", self._limits.custom_id)
        if custom_id in self._custom_ids:
            message = "Component custom id cannot be duplicated"
            raise form_error(f"{path}.custom_id", "COMPONENT_CUSTOM_ID_DUPLICATED", message)
        self._custom_ids.add(custom_id)

    def _check_button(self, button: Payload, path: str) -> None:
        label = button.get("label") or ""
        if len(label) > self._limits.button_label:
            raise too_long(f"{path}.label", self._limits.button_label)
        if not label and not button.get("emoji") and button.get("style") != ButtonStyle.PREMIUM:
            message = "A button must have a label or emoji"
            raise form_error(path, "BUTTON_COMPONENT_EMPTY", message)

    def _check_options(self, select: Payload, path: str) -> None:
        options = objects(select.get("options"))
        if not 1 <= len(options) <= self._limits.select_options:
            raise bad_length(f"{path}.options", self._limits.select_options)
        values = [option.get("value") for option in options]
        if len(set(values)) != len(values):
            message = "The specified option value is already used"
            code = "SELECT_COMPONENT_OPTION_VALUE_DUPLICATED"
            raise form_error(f"{path}.options", code, message)
        limit = self._limits.select_option_text
        for i, option in enumerate(options):
            for key in ("label", "value", "description"):
                if len(option.get(key) or "") > limit:
                    raise too_long(f"{path}.options.{i}.{key}", limit)

    def _count_text(self, display: Payload, path: str) -> None:
        content = display.get("content") or ""
        if not content:
            raise missing(f"{path}.content")
        self.text += len(content)

    def _check_row(self, row: Payload, path: str) -> None:
        children = objects(row.get("components"))
        if not 1 <= len(children) <= self._limits.row_buttons:
            raise bad_length(f"{path}.components", self._limits.row_buttons)
        buttons = all(child.get("type") == ComponentKind.BUTTON for child in children)
        if not buttons and len(children) > 1:
            message = "The specified component exceeds the maximum width"
            raise form_error(f"{path}.components", "COMPONENT_LAYOUT_WIDTH_EXCEEDED", message)


def number_components(components: list[Payload]) -> list[Payload]:
    """A copy of the tree in which each component has an id, as the service hands them out."""
    copies = [_copy(component) for component in components]
    for number, component in enumerate(walk_components(copies), start=1):
        component.setdefault("id", number)
    return copies


def _copy(component: Payload) -> Payload:
    copy = dict(component)
    if isinstance(copy.get("components"), list):
        copy["components"] = [_copy(child) for child in copy["components"]]
    for key in ("component", "accessory"):
        if isinstance(copy.get(key), dict):
            copy[key] = _copy(copy[key])
    return copy
