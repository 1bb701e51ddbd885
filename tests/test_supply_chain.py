"""Dependencies say why they are there, and have licences that a user may be given."""

import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
ALLOWED = {
    "0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "CNRI-Python", "ISC",
    "LLVM-exception", "MIT", "MIT-0", "MPL-2.0", "PSF-2.0", "Zlib",
}  # fmt: skip
CLASSIFIERS = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
TEXTS = {"3-Clause BSD License": "BSD-3-Clause", "BSD": "BSD-3-Clause", "Apache 2.0": "Apache-2.0"}
ONLY_FOR_TESTS = {
    "libcachesim": "GPL-3.0: its hits are compared with ours in a test; it is given to nobody",
}


def declared() -> list[str]:
    """Requirements of the project and of all its extras."""
    extras = PROJECT["optional-dependencies"].values()
    return [*PROJECT["dependencies"], *(line for extra in extras for line in extra)]


@pytest.mark.parametrize("requirement", declared())
def test_a_dependency_says_why_it_is_there(requirement: str) -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    reasons = re.findall(
        rf'"{re.escape(requirement)}",\s*#\s*(\S+\s+\S+.*|\S{{4,}})$', text, re.MULTILINE
    )
    # In two extras it says so twice.
    assert len(reasons) == declared().count(requirement)


def needed(requirements: list[str]) -> dict[str, Distribution]:
    """Installed distributions that requirements lead to, by lower-case name."""
    found: dict[str, Distribution] = {}
    left = [Requirement(text) for text in requirements]
    seen: set[tuple[str, str]] = set()
    while left:
        requirement = left.pop()
        for extra in sorted(requirement.extras) or [""]:
            if (requirement.name.lower(), extra) in seen:
                continue
            seen.add((requirement.name.lower(), extra))
            try:
                package = distribution(requirement.name)
            except PackageNotFoundError:
                continue
            found[requirement.name.lower()] = package
            further = (Requirement(text) for text in package.requires or ())
            left += [r for r in further if r.marker is None or r.marker.evaluate({"extra": extra})]
    return found


def licences(package: Distribution) -> Iterator[str]:
    """Licences that a distribution states, as identifiers of SPDX where they are known."""
    metadata = package.metadata
    stated = metadata.get("License-Expression") or ""
    if not stated:
        lines = metadata.get_all("Classifier") or []
        names = [line.rpartition(" :: ")[2] for line in lines if line.startswith("License ::")]
        names = [name for name in names if name != "OSI Approved"]
        if names:
            yield from (CLASSIFIERS.get(name, name) for name in names)
            return
        stated = (metadata.get("License") or "none stated").partition("\n")[0]
        stated = TEXTS.get(stated, stated)
    yield from re.split(r"\s+(?:AND|OR|WITH)\s+", stated.strip())


def refused(requirements: list[str]) -> dict[str, list[str]]:
    """Distributions with a licence that is not allowed."""
    found = {name: list(licences(package)) for name, package in needed(requirements).items()}
    return {name: stated for name, stated in found.items() if not set(stated) <= ALLOWED}


def test_what_a_user_installs_has_a_permissive_licence() -> None:
    found = needed(PROJECT["dependencies"])
    assert len(found) > len(PROJECT["dependencies"])
    assert refused(PROJECT["dependencies"]) == {}


def test_what_tests_need_beside_it_does_too_but_for_named_ones() -> None:
    assert refused(PROJECT["optional-dependencies"]["dev"]).keys() == ONLY_FOR_TESTS.keys()
    # No module of the product imports them.
    for name in ONLY_FOR_TESTS:
        for layer in ("schemas", "transforms", "pipelines"):
            for path in (ROOT / layer).rglob("*.py"):
                text = path.read_text(encoding="utf-8")
                assert not re.search(rf"^\s*(?:import|from)\s+{name}\b", text, re.MULTILINE), path
