"""Components: building estimators, conditions, variants."""

import pickle

import pytest
from scipy.stats import loguniform, randint
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from skauto.space import Component, Integer, Real, as_parameter


def make_svc(C=1.0, gamma_exponent=0):
    return SVC(C=C, gamma=2.0**gamma_exponent)


@pytest.fixture
def svc():
    return Component(
        "svc",
        SVC(),
        {
            "C": loguniform(0.01, 100),
            "kernel": ["rbf", "poly", "sigmoid"],
            "degree": as_parameter(randint(2, 6), 3),
            "coef0": Real(0.0, 1.0),
            "shrinking": [False],
        },
        conditions={
            "coef0": ("degree", [2, 3]),
            "degree": ("kernel", ["poly"]),
        },
    )


def test_prototype_is_cloned_and_set(svc):
    estimator = svc.make({"C": 2, "kernel": "poly", "degree": 4})
    assert estimator.get_params()["C"] == 2.0
    assert isinstance(estimator.C, float)
    assert (estimator.kernel, estimator.degree, estimator.shrinking) == ("poly", 4, False)
    assert svc.estimator.get_params()["kernel"] == "rbf"
    assert svc.make({}) is not svc.make({})


def test_factories_and_classes_are_called():
    factory = Component("svc", make_svc, {"gamma_exponent": Integer(-3, 3), "C": [2.0]})
    assert factory.make({"gamma_exponent": -1}).gamma == 0.5
    assert factory.make({}).C == 2.0
    assert isinstance(Component("scaler", StandardScaler).make({}), StandardScaler)
    assert Component("none").make({}) is None


def test_single_choices_are_settings(svc):
    assert list(svc.parameters) == ["C", "kernel", "degree", "coef0"]
    assert svc.settings == {"shrinking": False}


@pytest.mark.parametrize(
    ("values", "active"),
    [
        ({"kernel": "rbf", "degree": 3}, ["C", "kernel"]),
        ({"kernel": "poly", "degree": 3}, ["C", "kernel", "degree", "coef0"]),
        ({"kernel": "poly", "degree": 5}, ["C", "kernel", "degree"]),
    ],
)
def test_conditions_chain(svc, values, active):
    assert svc.active({"C": 1.0, "coef0": 0.0, **values}) == active


def test_defaults(svc):
    assert svc.default_values() == {"C": 1.0, "kernel": "rbf"}
    assert svc.parameters["degree"].default == 3


def test_traits_of_a_step_left_out():
    none, svc = Component("none"), Component("svc", SVC())
    assert none.passthrough
    assert none.handles_missing
    assert none.handles_categories
    assert none.keeps_categories
    assert not svc.passthrough
    assert not svc.handles_missing
    assert not Component("codes as numbers", keeps_categories=False).keeps_categories


def test_traits_are_read_from_tags():
    scaler = Component("standard", StandardScaler())
    assert scaler.dense_only  # because it centers
    assert scaler.handles_missing
    assert not Component("standard", StandardScaler(), dense_only=False).dense_only
    assert not Component("svc", make_svc).handles_missing


def test_vary_leaves_the_original_alone(svc):
    other = svc.vary({"C": Real(1.0, 2.0)}, drop=["kernel"], name="narrow", cost=3.0)
    assert list(other.parameters) == ["C", "degree", "coef0"]
    assert other.conditions == {"coef0": ("degree", (2, 3))}
    assert (other.name, other.cost, other.settings) == ("narrow", 3.0, {"shrinking": False})
    assert list(svc.parameters) == ["C", "kernel", "degree", "coef0"]
    assert (svc.name, svc.cost, svc.parameters["C"].high) == ("svc", 1.0, 100.0)
    with pytest.raises(TypeError, match="no attribute 'price'"):
        svc.vary(price=3)


def test_vary_resolves_the_conditions_on_what_it_fixes(svc):
    rbf = svc.vary({"kernel": ["rbf"]})
    assert list(rbf.parameters) == ["C"]
    assert rbf.settings == {"shrinking": False, "kernel": "rbf"}
    assert rbf.make(rbf.default_values()).degree == 3
    poly = svc.vary({"kernel": ["poly"]})
    assert list(poly.parameters) == ["C", "degree", "coef0"]
    assert poly.conditions == {"coef0": ("degree", (2, 3))}
    assert list(svc.vary({"degree": [5]}).parameters) == ["C", "kernel"]
    new = svc.vary({"kernel": ["rbf"]}, conditions={})  # the old conditions do not count
    assert list(new.parameters) == ["C", "degree", "coef0"]


def test_without_categories_resolves_conditions():
    component = Component(
        "x",
        None,
        {"codes": ["off", "on"], "smoothing": Real(0.0, 1.0), "depth": [1, 2]},
        conditions={"smoothing": ("codes", ["on"])},
        category_parameters=["codes"],
    )
    assert list(component.without_categories().parameters) == ["depth"]


def test_the_size_parameter_may_be_a_default_of_the_estimator(svc):
    assert svc.vary(size_parameter="max_iter").size_parameter == "max_iter"
    assert svc.vary(size_parameter="shrinking").size_parameter == "shrinking"
    assert Component("svc", make_svc, size_parameter="C").size_parameter == "C"
    with pytest.raises(ValueError, match="size_parameter must be .* Did you mean 'max_iter'"):
        svc.vary(size_parameter="max_iters")


def test_pickles(svc):
    assert pickle.loads(pickle.dumps(svc)).make({"C": 3.0}).C == 3.0


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("", None), {}, "must be a string"),
        (("x", None, {"a": 3}), {}, "x, hyper-parameter 'a': .* got 3"),
        (("x", None, {"name": [1, 2]}), {}, "cannot be called 'name'"),
        (("x", None, {"a": [1, 2]}), {"conditions": {"a": ("b", [1])}}, "names 'b'"),
        (
            ("x", None, {"a": [1, 2], "b": Real(0, 1)}),
            {"conditions": {"a": ("b", [0.5])}},
            "'b', which is continuous",
        ),
        (
            ("x", None, {"a": [1, 2], "b": [3, 4]}),
            {"conditions": {"a": ("b", [5])}},
            "lets 'b' be 5; it must be one of 3, 4",
        ),
        (
            ("x", None, {"a": [1, 2], "b": [3, 4]}),
            {"conditions": {"a": ("b", [3]), "b": ("a", [1])}},
            r"form a cycle: \['a', 'b'\]",
        ),
        (
            ("x",),
            {"balancing": "luck"},
            "must be 'weights', .* or None, got 'luck'",
        ),
        (("x",), {"weight": 0}, "weight must be positive, got 0"),
        (
            ("x", None, {"depth": [1, 2]}),
            {"size_parameter": "dept"},
            "size_parameter must be None or .*, got 'dept'; .* Did you mean 'depth'",
        ),
        (("x", make_svc), {"size_parameter": "c"}, "known are C, gamma_exponent"),
    ],
)
def test_errors(arguments, options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        Component(*arguments, **options)
