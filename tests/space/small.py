"""A small search space with conditions and forbidden pairs."""

from skauto.space import (
    Integer,
    Real,
    SearchSpace,
)


def make_space():
    """Three steps, conditions of two levels, two forbidden pairs."""
    space = SearchSpace(("a", "b", "c"), "small")
    space.add("a", "a0").add("a", "a1", None, {"x": Integer(1, 3)})
    space.add("b", "b0").add(
        "b",
        "b1",
        None,
        {
            "kind": ["p", "q", "r"],
            "p_only": [10, 20],
            "deep": Integer(0, 2),
            "width": Real(1e-3, 1e3, log=True),
        },
        conditions={"deep": ("p_only", [20]), "p_only": ("kind", ["p"])},
    )
    space.add("b", "b2", None, {"flag": [False, True]})
    space.add("c", "c0", None, {"z": Real(-1.0, 1.0)}).add("c", "c1")
    space.forbid({"a": "a1"}, {"c": "c1"})
    return space.forbid({"c": ["c0", "c1"]}, {"b": "b2"}).forbid({"b": "b1"}, {"a": "a1"})
