"""Writes a tool's schema so that servers can take it, at three levels of detail.

Invariant: pure, and what comes out is an object schema with `properties`, each of them a schema.
Only what the model and the server are told gets simpler: arguments are checked against the schema
as it was. What stays of a schema keeps its key order.

Servers compile all schemas of a request into one grammar, and fail whole requests over a regular
expression, a reference or a list of types; some refuse an object without `properties`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

from prompt.values import Json, JsonObject

SchemaLevel: TypeAlias = Literal["simple", "full", "names_only"]

_DEPTH = 16
"""Levels of nesting that are kept; recursion ends here at the latest."""

_MOST_PARTS = 2_000
"""Parts of one schema that are written: references to references can multiply without end."""

_LEFT_OUT = frozenset(
    {
        *("pattern", "patternProperties", "format", "$schema", "$id", "$comment", "$anchor"),
        *("$defs", "definitions", "if", "then", "else", "not", "dependentSchemas"),
        *("dependentRequired", "propertyNames", "unevaluatedProperties", "discriminator"),
        *("contentEncoding", "contentMediaType", "title"),
    }
)
_CHOICES = ("anyOf", "oneOf")
_KINDS = frozenset({"string", "number", "integer", "boolean", "object", "array"})


_LONGEST_NOTE = 200
"""Characters of a note; a longer one would confuse more than help."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A schema as it is sent. `note` tells which arguments go together, where the schema itself no
    longer can; `dropped` names properties that were left out because their value is no schema."""

    parameters: JsonObject
    note: str = ""
    dropped: tuple[str, ...] = ()


def offered(schema: JsonObject, level: SchemaLevel) -> JsonObject:
    """The schema as it is sent."""
    return written(schema, level).parameters


def written(schema: JsonObject, level: SchemaLevel) -> Written:
    """The schema as it is sent, and what is to be said beside it."""
    writer = _Writer(schema, simple=level != "full")
    root = writer.write(schema)
    root = {**root, "type": "object"} if "type" in root else {"type": "object", **root}
    if not isinstance(root.get("properties"), Mapping):
        root["properties"] = {}
    if level == "names_only":
        root = _names_only(root)
    dropped = tuple(dict.fromkeys(writer.dropped))
    return Written(parameters=root, note=writer.note, dropped=dropped)


def _names_only(root: JsonObject) -> JsonObject:
    properties = cast("Mapping[str, Json]", root["properties"])
    plain: dict[str, Json] = {
        "type": "object",
        "properties": {name: {"type": _kind(field)} for name, field in properties.items()},
    }
    if required := root.get("required"):
        plain["required"] = required
    return plain


def _kind(schema: Json) -> str:
    fields: Mapping[str, Json] = schema if _is_map(schema) else {}
    if (kind := fields.get("type")) in _KINDS:
        return cast("str", kind)
    if "properties" in fields:
        return "object"
    return "array" if "items" in fields else "string"


def _is_left_out(key: str, value: Json) -> bool:
    """Whether a simple schema does without. That nothing else may be given is what models and
    grammars take for granted, and would cost each tool tokens."""
    return key in _LEFT_OUT or (key == "additionalProperties" and value is False)


class _Writer:
    """Writes one schema; references are looked up in its root."""

    def __init__(self, root: JsonObject, *, simple: bool) -> None:
        self.note = ""
        self.dropped: list[str] = []
        self._root = root
        self._simple = simple
        self._left = _MOST_PARTS

    def write(self, schema: Json, within: tuple[str, ...] = (), depth: int = 0) -> dict[str, Json]:
        """`schema` without references. `within` are those that are being written just now."""
        self._left -= 1
        if not isinstance(schema, Mapping) or depth > _DEPTH or self._left < 0:
            return {}  # `true`, or a place where anything goes from here on
        fields = cast("Mapping[str, Json]", schema)
        reference = fields.get("$ref")
        if isinstance(reference, str):
            rest = {key: value for key, value in fields.items() if key != "$ref"}
            if reference in within:
                return self.write({**_outline(self._find(reference)), **rest}, within, depth + 1)
            found = {**self._find(reference), **rest}
            return self.write(found, (*within, reference), depth + 1)
        if self._simple:
            fields = self._plain(fields, within, depth)
        written: dict[str, Json] = {}
        for key, value in fields.items():
            if key in {"$defs", "definitions"} or (self._simple and _is_left_out(key, value)):
                continue
            written[key] = self._value(key, value, within, depth)
        return _without_missing(fields, written)

    def _value(self, key: str, value: Json, within: tuple[str, ...], depth: int) -> Json:
        match key:
            case "properties" | "patternProperties" | "dependentSchemas" if isinstance(
                value, Mapping
            ):
                named = cast("Mapping[str, Json]", value)
                return {
                    name: self.write(field, within, depth + 1)
                    for name, field in named.items()
                    if self._may_be(name, field)
                }
            case "additionalProperties" | "items" | "contains" | "not" if isinstance(
                value, Mapping
            ):
                return self.write(value, within, depth + 1)
            case "items" | "anyOf" | "oneOf" | "allOf" | "prefixItems" if isinstance(value, list):
                entries = cast("Sequence[Json]", value)
                if self._simple and key == "items":
                    # A list of schemas, one a place, is the form of old drafts.
                    return self.write(entries[0], within, depth + 1) if entries else {}
                return [self.write(entry, within, depth + 1) for entry in entries]
            case _:
                return value

    def _may_be(self, name: str, field: Json) -> bool:
        """Whether there may be such a property: a schema that is `false` says that there is none,
        and what is no schema at all says nothing."""
        if not isinstance(field, Mapping | bool):
            self.dropped.append(name)
        return field is True or isinstance(field, Mapping)

    def _plain(
        self, fields: Mapping[str, Json], within: tuple[str, ...], depth: int
    ) -> Mapping[str, Json]:
        """`fields` without alternatives. Those that are objects become one with the properties of
        all; of others, the first that says something is taken."""
        plain = dict(fields)
        for part in _list(plain.pop("allOf", None)):
            plain = _joined(self.write(part, within, depth + 1), plain)
        for key in _CHOICES:
            choices = [self.write(one, within, depth + 1) for one in _list(plain.pop(key, None))]
            choices = [one for one in choices if one and one.get("type") != "null"]
            if len(choices) > 1 and all(map(_is_object, choices)):
                plain = _joined(_united(choices), plain)
                self._tell(_together(choices, _names(plain.get("required"))), plain, depth)
            elif choices:
                plain = _joined(_constants(choices) or choices[0], plain)
        if isinstance(kinds := plain.get("type"), list):
            named = [kind for kind in cast("list[Json]", kinds) if kind in _KINDS]
            plain["type"] = named[0] if named else "string"
        if "const" in plain:
            plain["enum"] = [plain.pop("const")]
        if "prefixItems" in plain:
            first = _list(plain.pop("prefixItems"))
            plain.setdefault("items", first[0] if first else {})
        return plain

    def _tell(self, note: str, plain: dict[str, Json], depth: int) -> None:
        """Put a note where models read it: the root's stands in the tool's own description."""
        if depth == 0:
            self.note = " ".join(filter(None, (self.note, note)))
        elif note:
            described = plain.get("description")
            plain["description"] = f"{described} {note}" if isinstance(described, str) else note

    def _find(self, reference: str) -> Mapping[str, Json]:
        """What a reference within the schema points to; anything where it points nowhere."""
        found: Json = self._root
        for step in reference.removeprefix("#").split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            found = cast("Mapping[str, Json]", found).get(name) if _is_map(found) else None
        return cast("Mapping[str, Json]", found) if _is_map(found) else {}


def _outline(schema: Mapping[str, Json]) -> Mapping[str, Json]:
    """What is left of a schema inside itself."""
    kept = {key: schema[key] for key in ("type", "description") if key in schema}
    return {**kept, "properties": {}} if kept.get("type") == "object" else kept


def _joined(inner: Mapping[str, Json], outer: Mapping[str, Json]) -> dict[str, Json]:
    """Both schemas as one; the outer, which is nearer to the place of use, has its word first."""
    joined = {**inner, **outer}
    if _is_map(inner.get("properties")) and _is_map(outer.get("properties")):
        joined["properties"] = {**inner["properties"], **outer["properties"]}
    if inner.get("required") and outer.get("required"):
        both = (*_list(inner["required"]), *_list(outer["required"]))
        joined["required"] = list(dict.fromkeys(both))
    return joined


def _is_object(schema: Mapping[str, Json]) -> bool:
    """Whether an alternative is about an object's properties."""
    return ("type" not in schema and "required" in schema) or _kind(schema) == "object"


def _united(choices: Sequence[Mapping[str, Json]]) -> dict[str, Json]:
    """Alternatives that are objects as one that has the properties of all, and requires what each
    of them does."""
    versions: dict[str, list[Mapping[str, Json]]] = {}
    for one in choices:
        for name, field in _properties(one).items():
            versions.setdefault(name, []).append(field)
    united: dict[str, Json] = {
        "type": "object",
        "properties": {name: _constants(each) or each[0] for name, each in versions.items()},
    }
    if required := _common(choices):
        united["required"] = required
    return united


def _common(choices: Sequence[Mapping[str, Json]]) -> list[Json]:
    """What each of several alternatives requires."""
    first, *rest = (_names(one.get("required")) for one in choices)
    return [name for name in first if all(name in other for other in rest)]


def _together(choices: Sequence[Mapping[str, Json]], always: Iterable[str]) -> str:
    """Which arguments go together, in words; empty where that would tell nothing, or too much."""
    needed = [
        [name for name in _names(one.get("required")) if name not in always] for one in choices
    ]
    groups = list(dict.fromkeys(" and ".join(names) for names in needed))
    if len(groups) < 2 or "" in groups:
        return ""
    note = f"Give either {', or '.join(groups)}."
    return note if len(note) <= _LONGEST_NOTE else ""


def _properties(schema: Mapping[str, Json]) -> Mapping[str, Mapping[str, Json]]:
    named = schema.get("properties")
    return cast("Mapping[str, Mapping[str, Json]]", named) if _is_map(named) else {}


def _names(value: Json) -> list[str]:
    return [name for name in _list(value) if isinstance(name, str)]


def _without_missing(before: Mapping[str, Json], after: dict[str, Json]) -> dict[str, Json]:
    """A schema that was written, without demands for properties that were left out of it."""
    had, has = _properties(before), _properties(after)
    gone = had.keys() - has.keys()
    if gone and "required" in after:
        after["required"] = [name for name in _names(after["required"]) if name not in gone]
        if not after["required"]:
            del after["required"]
    return after


def _constants(choices: Sequence[Mapping[str, Json]]) -> Mapping[str, Json] | None:
    """Alternatives that are all fixed values, as one list of values."""
    if not all("enum" in one for one in choices):
        return None
    values: list[Json] = []
    for value in (value for one in choices for value in _list(one["enum"])):
        if value not in values:
            values.append(value)
    kinds = {one.get("type") for one in choices} - {None}
    return {**({"type": kinds.pop()} if len(kinds) == 1 else {}), "enum": values}


def _list(value: Json) -> Sequence[Json]:
    return cast("list[Json]", value) if isinstance(value, list) else ()


def _is_map(value: Json) -> bool:
    return isinstance(value, Mapping)
