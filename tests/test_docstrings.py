"""Every public object is documented in numpydoc's form, and the text agrees with the signature."""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import is_dataclass
from pathlib import Path

import pytest
from numpydoc.docscrape import get_doc_object
from numpydoc.validate import validate

import skauto

API_PAGE = Path(__file__).parents[1] / "docs" / "api.rst"

IGNORED = {
    "GL01",  # the summary starts on the line of the opening quotes
    "ES01",  # not everything needs an extended summary
    "SA01",  # nor a See Also section
    "PR08",  # a description may start with a symbol in lower case
    "PR09",  # and need not end with a period
    "RT02",  # a single returned value may be named
    "RT04",
    "RT05",
    "YD01",  # the annotation says what a generator yields
    "SS05",  # "Returns ..." as well as "Return ..."
}
# Packages that the API reference leaves out: users find what they need of them in skauto itself.
UNDOCUMENTED = {
    "skauto.engines",
    "skauto.estimators",
    "skauto.evaluation",
    "skauto.schedule",
    "skauto.utils",
}
# A sentence is enough: helpers of inner layers, and the spaces of papers, which `get_space` gives.
TOOLS = (
    "skauto.engines.",
    "skauto.evaluation.",
    "skauto.schedule.",
    "skauto.space.catalog.papers.",
    "skauto.utils.",
)
# Whose methods list their parameters and what they return; elsewhere a sentence is enough.
FULL_METHODS = set(skauto.__all__)


def public_modules() -> list[str]:
    """Packages and modules whose dotted name has no leading underscore, skauto itself first."""
    walked = pkgutil.walk_packages(skauto.__path__, prefix="skauto.")
    names = [module.name for module in walked]
    return ["skauto", *(name for name in names if not any_private(name))]


def any_private(dotted: str) -> bool:
    return any(part.startswith("_") for part in dotted.split("."))


def public_objects() -> dict[str, object]:
    """Each public class and function under the shortest dotted name that gives it."""
    found: dict[int, tuple[str, object]] = {}
    for module_name in public_modules():
        module = importlib.import_module(module_name)
        for name in getattr(module, "__all__", ()):
            thing = getattr(module, name)
            if inspect.isclass(thing) or inspect.isfunction(thing):
                found.setdefault(id(thing), (f"{module_name}.{name}", thing))
    return dict(sorted(found.values(), key=lambda item: item[0]))


OBJECTS = public_objects()


def own_methods(thing: type) -> Iterator[str]:
    """Public methods and properties that skauto, and not a base class of others, defines."""
    for name, member in inspect.getmembers(thing):
        function = member.fget if isinstance(member, property) else member
        callable_or_property = inspect.isroutine(function) or isinstance(member, property)
        ours = (getattr(function, "__module__", None) or "").startswith("skauto")
        inherits_text = not function_text(function) and inspect.getdoc(member)
        if callable_or_property and ours and not inherits_text and not name.startswith("_"):
            yield name


def function_text(function: object) -> str:
    return (getattr(function, "__doc__", None) or "").strip()


def complaints(dotted: str, extra: set[str] = frozenset()) -> list[str]:
    errors = validate(dotted)["errors"]
    return [f"{code}: {text}" for code, text in errors if code not in IGNORED | extra]


def test_modules_say_what_they_are() -> None:
    texts = {name: importlib.import_module(name).__doc__ or "" for name in public_modules()}
    assert [name for name, text in texts.items() if not text.strip()] == []


@pytest.mark.skipif(not API_PAGE.exists(), reason="the documentation is not there")
def test_api_reference_lists_every_package() -> None:
    listed = set(re.findall(r"^   (skauto[\w.]*)$", API_PAGE.read_text(), flags=re.MULTILINE))
    layers = {dotted.rpartition(".")[0] for dotted in OBJECTS}
    assert listed == layers - UNDOCUMENTED


@pytest.mark.parametrize("dotted", OBJECTS)
def test_public_object_and_its_methods_are_documented(dotted: str) -> None:
    thing = OBJECTS[dotted]
    found = {dotted: complaints(dotted, excused(dotted))}
    for method in own_methods(thing) if inspect.isclass(thing) else ():
        found[method] = complaints(f"{dotted}.{method}", excused_of_method(dotted, method))
    assert {name: texts for name, texts in found.items() if texts} == {}


def excused(dotted: str) -> set[str]:
    """What the text of a class or function need not have."""
    thing, ignored = OBJECTS[dotted], set()
    protocol = getattr(thing, "_is_protocol", False)
    base = inspect.isclass(thing) and thing.__name__.startswith("Base")
    if base or inspect.isclass(thing) and (protocol or issubclass(thing, BaseException)):
        ignored |= {"EX01", "PR01"}  # nothing to show, no constructor of its own
    if inspect.isabstract(thing):
        ignored |= {"EX01"}
    if is_record(thing):
        ignored |= {"EX01", "PR01"}
    if dotted.startswith(TOOLS):
        ignored |= {"EX01", "PR01", "RT01"}
    return ignored


def is_record(thing: object) -> bool:
    """Whether it is only ever returned: a dataclass that calls its fields Attributes."""
    if not inspect.isclass(thing) or not (is_dataclass(thing) or hasattr(thing, "_fields")):
        return False
    attributes = {entry.name for entry in get_doc_object(thing)["Attributes"]}
    return set(inspect.signature(thing).parameters) <= attributes


def excused_of_method(owner: str, name: str) -> set[str]:
    """What the text of a method or property need not have."""
    member = inspect.getattr_static(OBJECTS[owner], name)
    user_facing = owner.removeprefix("skauto.") in FULL_METHODS
    if user_facing and not isinstance(member, property):
        return {"EX01"}
    # A sentence may be enough; a Parameters section that exists must be right.
    sections = get_doc_object(getattr(OBJECTS[owner], name))
    ignored = {"EX01", "RT01", "RT03", "PR04", "PR07"}
    return ignored if sections["Parameters"] else ignored | {"PR01"}
