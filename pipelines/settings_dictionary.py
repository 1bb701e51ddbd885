"""The list of all settings, generated from the models that check them."""

import ast
import types
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from inspect import getsource
from itertools import pairwise
from textwrap import dedent
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, BeforeValidator
from pydantic.fields import FieldInfo

from pipelines.durations import parse_size
from pipelines.settings import InPlace, Settings

_UNITS = (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1))
_WORDS = {
    str: "text",
    int: "whole number",
    bool: "true or false",
    date: "day",
    timedelta: "duration such as 36h",
}


@dataclass(frozen=True)
class Setting:
    """One setting.

    Attributes:
        key: Its place: `NAME` for any name, `[]` for each of a list.
        expected: What a value is.
        default: What holds where it is left out; `required` where it may not be.
        description: What it says.
    """

    key: str
    expected: str
    default: str
    description: str


def all_settings() -> list[Setting]:
    """Every setting, in the order of the models."""
    return list(_of_model(Settings, ""))


def _of_model(model: type[BaseModel], prefix: str) -> Iterator[Setting]:
    descriptions = _docstrings(model)
    for name, field in model.model_fields.items():
        key = f"{prefix}{name}"
        description = " ".join(descriptions.get(name, "").split())
        yield Setting(key, _expected(field), _default(field), description)
        inner = _inner(field.annotation)
        if inner is not None:
            place, found = inner
            yield from _of_model(found, f"{key}{place}.")


def _docstrings(model: type[BaseModel]) -> dict[str, str]:
    """What stands below each attribute of a model; pydantic would read it at every start."""
    found: dict[str, str] = {}
    for base in model.__mro__:
        if base is BaseModel:
            break
        (stated,) = ast.parse(dedent(getsource(base))).body
        body = stated.body if isinstance(stated, ast.ClassDef) else []
        for attribute, text in pairwise(body):
            match attribute, text:
                case (
                    ast.AnnAssign(target=ast.Name(id=name)),
                    ast.Expr(value=ast.Constant(value=str(words))),
                ):
                    found.setdefault(name, words)
    return found


def _inner(annotation: Any) -> tuple[str, type[BaseModel]] | None:  # noqa: ANN401  a type
    """A model within a type, and how a key of it begins."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "", annotation
    place = {dict: ".NAME", tuple: "[]"}.get(get_origin(annotation), "")
    for argument in get_args(annotation):
        found = _inner(argument)
        if found is not None:
            return f"{place}{found[0]}", found[1]
    return None


def _expected(field: FieldInfo) -> str:
    if any(isinstance(m, BeforeValidator) and m.func is parse_size for m in field.metadata):
        return "size such as 4GB"
    return _with_place(_words(field.annotation), field.metadata)


def _with_place(words: str, metadata: Iterable[object]) -> str:
    """What is expected, with what may stand in its place."""
    return " or ".join([*(str(m) for m in metadata if isinstance(m, InPlace)), words])


def _words(annotation: Any) -> str:  # noqa: ANN401  a type
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return " or ".join(f"`{value}`" for value in arguments)
    if origin in {types.UnionType, Union}:
        return " or ".join(_words(a) for a in arguments if a is not type(None))
    if origin is tuple:
        return f"list of {_words(arguments[0])}"
    if origin is dict:
        return f"{_words(arguments[1])} by name"
    if hasattr(annotation, "__metadata__"):
        inner = _words(arguments[0] if origin is None else annotation.__origin__)
        return _with_place(inner, annotation.__metadata__)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "mapping"
    return _WORDS[annotation]


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    if isinstance(value, timedelta):
        seconds = int(value.total_seconds())
        return next(f"{seconds // n}{unit}" for unit, n in _UNITS if seconds % n == 0)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | str):
        return str(value)
    return "none"


def as_markdown(settings: list[Setting]) -> str:
    """The list as a table."""
    lines = ["| setting | expected | default | what it says |", "|---|---|---|---|"]
    lines.extend(f"| `{s.key}` | {s.expected} | {s.default} | {s.description} |" for s in settings)
    return "\n".join(lines)
