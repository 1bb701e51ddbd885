"""The part of JSON Schema (2020-12) that our published schemas use, checked word by word.

A schema with a word that is not known here is refused, so that nothing passes unchecked.
"""

import re
from collections.abc import Iterator
from typing import Any

TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict, "array": list, "string": str, "integer": int, "number": (int, float),
    "boolean": bool, "null": type(None),
}  # fmt: skip
WORDS = {
    "$schema", "$id", "$defs", "$ref", "title", "description", "type", "enum", "const", "pattern",
    "anyOf", "properties", "required", "additionalProperties", "items",
}  # fmt: skip


def problems(schema: dict[str, Any], value: Any) -> list[str]:
    """Where a value does not fit a schema."""
    return list(_problems(schema, schema, value, "$"))


def _problems(root: dict[str, Any], schema: dict[str, Any], value: Any, at: str) -> Iterator[str]:
    assert set(schema) <= WORDS, f"{at}: {set(schema) - WORDS}"
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/$defs/")
        yield from _problems(root, root["$defs"][name], value, at)
    if "anyOf" in schema and all(list(_problems(root, s, value, at)) for s in schema["anyOf"]):
        yield f"{at}: {value!r} fits none of {schema['anyOf']}"
    if "const" in schema and value != schema["const"]:
        yield f"{at}: {value!r} is not {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{at}: {value!r} is none of {schema['enum']}"
    if "type" in schema:
        wanted = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        if not any(_is(value, name) for name in wanted):
            yield f"{at}: {value!r} is no {' or '.join(wanted)}"
    if "pattern" in schema and isinstance(value, str) and not re.search(schema["pattern"], value):
        yield f"{at}: {value!r} does not fit {schema['pattern']}"
    if isinstance(value, dict) and "properties" in schema:
        known = schema["properties"]
        yield from (f"{at}.{name}: is missing" for name in schema["required"] if name not in value)
        assert schema["additionalProperties"] is False, at
        yield from (f"{at}.{name}: is not known" for name in value if name not in known)
        for name in value.keys() & known.keys():
            yield from _problems(root, known[name], value[name], f"{at}.{name}")
    if isinstance(value, list) and "items" in schema:
        for number, part in enumerate(value):
            yield from _problems(root, schema["items"], part, f"{at}[{number}]")


def _is(value: Any, name: str) -> bool:
    is_boolean = isinstance(value, bool)
    return isinstance(value, TYPES[name]) and (name == "boolean" or not is_boolean)
