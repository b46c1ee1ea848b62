"""Writes a tool's schema so that servers can take it, at three levels of detail.

Invariant: pure, and what comes out is an object schema with `properties`. Only what the model and
the server are told gets simpler: arguments are checked against the schema as it was. What stays of
a schema keeps its key order.

Servers compile all schemas of a request into one grammar, and fail whole requests over a regular
expression, a reference or a list of types; some refuse an object without `properties`.
"""

from collections.abc import Mapping, Sequence
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


def offered(schema: JsonObject, level: SchemaLevel) -> JsonObject:
    """The schema as it is sent."""
    root = _Writer(schema, simple=level != "full").write(schema)
    root = {**root, "type": "object"} if "type" in root else {"type": "object", **root}
    if not isinstance(root.get("properties"), Mapping):
        root["properties"] = {}
    return _names_only(root) if level == "names_only" else root


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
        return written

    def _value(self, key: str, value: Json, within: tuple[str, ...], depth: int) -> Json:
        match key:
            case "properties" | "patternProperties" | "dependentSchemas" if isinstance(
                value, Mapping
            ):
                named = cast("Mapping[str, Json]", value)
                return {name: self.write(field, within, depth + 1) for name, field in named.items()}
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

    def _plain(
        self, fields: Mapping[str, Json], within: tuple[str, ...], depth: int
    ) -> Mapping[str, Json]:
        """`fields` without alternatives: each is replaced by its first that says something."""
        plain = dict(fields)
        for part in _list(plain.pop("allOf", None)):
            plain = _joined(self.write(part, within, depth + 1), plain)
        for key in _CHOICES:
            choices = [self.write(one, within, depth + 1) for one in _list(plain.pop(key, None))]
            chosen = next((one for one in choices if one and one.get("type") != "null"), None)
            if chosen is not None:
                plain = _joined(_constants(choices) or chosen, plain)
        if isinstance(kinds := plain.get("type"), list):
            named = [kind for kind in cast("list[Json]", kinds) if kind in _KINDS]
            plain["type"] = named[0] if named else "string"
        if "const" in plain:
            plain["enum"] = [plain.pop("const")]
        if "prefixItems" in plain:
            first = _list(plain.pop("prefixItems"))
            plain.setdefault("items", first[0] if first else {})
        return plain

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


def _constants(choices: Sequence[Mapping[str, Json]]) -> Mapping[str, Json] | None:
    """Alternatives that are all fixed values, as one list of values."""
    choices = [one for one in choices if one and one.get("type") != "null"]
    if not all("enum" in one for one in choices):
        return None
    values = [value for one in choices for value in _list(one["enum"])]
    kinds = {one.get("type") for one in choices} - {None}
    return {**({"type": kinds.pop()} if len(kinds) == 1 else {}), "enum": values}


def _list(value: Json) -> Sequence[Json]:
    return cast("list[Json]", value) if isinstance(value, list) else ()


def _is_map(value: Json) -> bool:
    return isinstance(value, Mapping)
