"""Bad input: each is refused before the search starts, in words that help (docs/errors.rst)."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.metrics import make_scorer, roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from skauto import AutoClassifier, SearchOptions
from skauto.exceptions import AllTrialsFailedError
from skauto.space import Configuration, SearchSpace
from skauto.strategies import RandomSearch

X = np.random.default_rng(0).normal(size=(30, 3))
Y = np.arange(30) % 2
THREE = np.arange(30) % 3
NAMES = np.array(["no", "yes"])[Y]


def with_value(value, dtype=float):
    changed = X.astype(dtype)
    changed[0, 0] = value
    return changed


def broken_space():
    space = SearchSpace(["classifier"])
    return space.add("classifier", "broken", DecisionTreeClassifier(), {"max_depth": [-1, -2]})


# what is wrong, parameters of the estimator, arguments of fit, type of the error, its text
BAD_FITS = [
    ("X has one dimension", {}, (X[:, 0], Y), ValueError, "Expected 2D array, got 1D"),
    ("X has three dimensions", {}, (X[:, :, None], Y), ValueError, "Expected 2D array, got 3D"),
    ("X is complex", {}, (X * 1j, Y), ValueError, "Complex data not supported"),
    ("X holds infinity", {}, (with_value(np.inf), Y), ValueError, "infinity.*column 'x0'"),
    (
        "X holds an object",
        {},
        (with_value({}, object), Y),
        TypeError,
        "must be a string or a number.*'x0' holds a dict; make columns of its keys.*column_kinds",
    ),
    (
        "Two columns have one name",
        {},
        (pd.DataFrame(X, columns=["a", "b", "a"]), Y),
        ValueError,
        "different names.*Got a more than once",
    ),
    (
        "X holds y",
        {},
        (pd.DataFrame(X, columns=[*"abc"]).assign(d=NAMES), pd.Series(NAMES, name="d")),
        ValueError,
        "column 'd' is y; leave it out",
    ),
    ("X has no columns", {}, (X[:, :0], Y), ValueError, "0 feature.*minimum of 1 is required"),
    ("X has one row", {}, (X[:1], Y[:1]), ValueError, "1 sample.*minimum of 2"),
    ("X and y differ in length", {}, (X, Y[:-1]), ValueError, "inconsistent numbers of samples"),
    ("y is missing", {}, (X, None), ValueError, "requires y to be passed"),
    ("y has one class", {}, (X, np.ones(30)), ValueError, "at least two classes.*single class"),
    ("y is continuous", {}, (X, X[:, 0]), ValueError, "Unknown label type: continuous"),
    ("y holds NaN", {}, (X, np.where(Y, np.nan, 0.0)), ValueError, "y contains NaN"),
    (
        "y holds None",
        {},
        (X, np.where(Y, None, "a")),
        ValueError,
        "y contains 15 missing values.*drop",
    ),
    (
        "y mixes numbers and strings",
        {},
        (X, np.array([1, "a"] * 15, dtype=object)),
        ValueError,
        "y must hold labels of one type. Got int and str instead.*astype",
    ),
    ("y has two columns", {}, (X, np.c_[Y, Y]), ValueError, "y should be a 1d array"),
    ("time_limit is zero", {"time_limit": 0}, (X, Y), ValueError, "'time_limit'.*Got 0"),
    ("time_limit is negative", {"time_limit": -1}, (X, Y), ValueError, "'time_limit'.*Got -1"),
    ("max_evals is zero", {"max_evals": 0}, (X, Y), ValueError, "'max_evals'.*Got 0"),
    ("max_evals is a fraction", {"max_evals": 2.5}, (X, Y), ValueError, "'max_evals'.*Got 2.5"),
    (
        "The strategy is misspelled",
        {"strategy": "forest_b"},
        (X, Y),
        ValueError,
        "'strategy'.*'forest_b'.*Did you mean 'forest_bo'",
    ),
    (
        "The strategy is a class",
        {"strategy": RandomSearch},
        (X, Y),
        ValueError,
        "'strategy' parameter.*RandomSearch",
    ),
    (
        "The scorer is misspelled",
        {"scoring": "roc_au"},
        (X, Y),
        ValueError,
        "'scoring'.*'roc_au'.*Did you mean 'roc_auc'",
    ),
    (
        "The scorer is for two classes",
        {"scoring": "f1"},
        (X, THREE),
        ValueError,
        "'scoring'.*'f1'.*cannot score 3 classes.*average",
    ),
    (
        "The scorer has no positive class",
        {"scoring": "f1"},
        (X, NAMES),
        ValueError,
        r"Name the positive.*: make_scorer\(f1_score, pos_label='yes'\).* make it 1 .*f1_macro",
    ),
    (
        "The scorer is for numbers",
        {"scoring": "r2"},
        (X, NAMES),
        ValueError,
        "'scoring'.*'r2'.*cannot score 2 classes",
    ),
    ("No scorer", {"scoring": []}, (X, Y), ValueError, "'scoring'.*at least one scorer"),
    (
        "The space is misspelled",
        {"space": "defalt"},
        (X, Y),
        ValueError,
        "space.*'defalt'.*default",
    ),
    ("cv is 1", {"cv": 1}, (X, Y), ValueError, "'cv' parameter must be.*Got 1"),
    ("cv is a string", {"cv": "five"}, (X, Y), ValueError, "'cv' parameter must be.*Got 'five'"),
    ("cv is a class", {"cv": StratifiedKFold}, (X, Y), ValueError, r"'cv'.*StratifiedKFold\(\)"),
    (
        "a scorer of decision_function",
        {"scoring": make_scorer(roc_auc_score, response_method="decision_function")},
        (X, Y),
        ValueError,
        "'scoring'.*AutoClassifier.*response_method='predict_proba'",
    ),
    (
        "cv leaves nothing to train on",
        {"cv": [([], [0])]},
        (X, Y),
        ValueError,
        "'cv'.*at least one row",
    ),
    (
        "ensemble_size is zero",
        {"ensemble_size": 0},
        (X, Y),
        ValueError,
        "'ensemble_size'.*Got 0",
    ),
    (
        "initial holds dicts",
        {"initial": [{"classifier": "lda"}]},
        (X, Y),
        TypeError,
        "'initial'.*Configuration objects. Got dict",
    ),
    (
        "initial lies outside of the space",
        {"initial": [Configuration({"classifier": "magic"})]},
        (X, Y),
        ValueError,
        "step",
    ),
    (
        "initial is an unknown name",
        {"initial": "best"},
        (X, Y),
        ValueError,
        "'initial' parameter.*'metalearning'.*Got 'best'",
    ),
    (
        "initial needs an archive that the space does not have",
        {"initial": "metalearning", "space": broken_space()},
        (X, Y),
        ValueError,
        "'initial' parameter 'metalearning'.*'custom'.*Known: default.*Pass 'portfolio'",
    ),
    (
        "memory_limit is negative",
        {"options": SearchOptions(memory_limit=-5)},
        (X, Y),
        ValueError,
        "'memory_limit'",
    ),
    ("n_jobs is zero", {"n_jobs": 0}, (X, Y), ValueError, "'n_jobs' parameter.*Got 0"),
    (
        "random_state is a string",
        {"random_state": "seed"},
        (X, Y),
        ValueError,
        "'random_state'.*Got 'seed'",
    ),
    (
        "column_kinds names an unknown column",
        {"column_kinds": ["color"]},
        (X, Y),
        ValueError,
        "'column_kinds'.*'color'",
    ),
    (
        "column_kinds names a position among numbered columns",
        {"column_kinds": {2: "drop"}},
        (pd.DataFrame(X, columns=[0, 2, 3]), Y),
        ValueError,
        "'column_kinds'.*Got 2, which may be a label or a position; rename",
    ),
    (
        "column_kinds has an unknown kind",
        {"column_kinds": {0: "txt"}},
        (X, Y),
        ValueError,
        "'column_kinds'.*among.*'text'.*Got 'txt' for column 0",
    ),
    (
        "A column cannot be read as its kind",
        {"column_kinds": {0: "text"}},
        (X, Y),
        ValueError,
        "'x0' of X cannot be read as 'text'.*'column_kinds'.*numbers",
    ),
    (
        "Every trial fails",
        {"space": broken_space()},
        (X, Y),
        AllTrialsFailedError,
        "All 2 trials failed",
    ),
]

BAD_METADATA = [
    (
        "An argument of fit is misspelled",
        {"sample_weights": np.ones(30)},
        TypeError,
        "'sample_weights'.*Use sample_weight=... instead",
    ),
    (
        "Weights for other rows",
        {"sample_weight": np.ones(3)},
        ValueError,
        "'sample_weight'.*each of the 30 rows.*Got 3",
    ),
    ("Negative weights", {"sample_weight": -np.ones(30)}, ValueError, "Negative values"),
    ("Groups for other rows", {"groups": np.ones(3)}, ValueError, "'groups'.*Got 3"),
    (
        "Groups with missing values",
        {"groups": np.array([None, "a", "b"] * 10)},
        ValueError,
        "'groups' contain 10 missing values.*drop",
    ),
    (
        "Groups of two columns",
        {"groups": np.ones((30, 2))},
        ValueError,
        r"'groups' must have one dimension. Got shape \(30, 2\)",
    ),
    ("One group", {"groups": np.ones(30)}, ValueError, "'groups'.*two different groups"),
]


def ids(cases):
    return [case[0].replace(" ", "_") for case in cases]


@pytest.mark.parametrize("_, params, arguments, error, text", BAD_FITS, ids=ids(BAD_FITS))
def test_bad_fit(_, params, arguments, error, text):
    clf = AutoClassifier(**{"max_evals": 2, "random_state": 0, **params})
    with pytest.raises(error, match=f"(?s){text}"):
        clf.fit(*arguments)


@pytest.mark.parametrize("_, metadata, error, text", BAD_METADATA, ids=ids(BAD_METADATA))
def test_bad_metadata(_, metadata, error, text):
    with pytest.raises(error, match=f"(?s){text}"):
        AutoClassifier(max_evals=2).fit(X, Y, **metadata)


def test_predict_before_fit():
    with pytest.raises(NotFittedError, match="not fitted yet"):
        AutoClassifier().predict(X)


@pytest.fixture(scope="module")
def fitted():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    return AutoClassifier(max_evals=2, cv=2, random_state=0).fit(frame, Y), frame


@pytest.mark.parametrize(
    "change, error, text",
    [
        (lambda f: f.rename(columns={"a": "z"}), ValueError, "feature names should match"),
        (lambda f: f[["b", "a", "c"]], ValueError, "in the same order"),
        (lambda f: f[["a", "b"]], ValueError, "feature names should match|2 features"),
        (lambda f: f.assign(a="text"), ValueError, "'a'.*numbers, as it did in fit. Got 'text'"),
        (lambda f: f.assign(a=np.inf), ValueError, "infinity.*'a'"),
        (lambda f: f.iloc[:0], ValueError, "0 sample"),
        (lambda f: [], ValueError, "Expected 2D array, got 1D"),
    ],
    ids=["renamed", "reordered", "fewer", "other_kind", "infinite", "empty", "no_row"],
)
def test_changed_columns_at_predict(fitted, change, error, text):
    clf, frame = fitted
    with pytest.raises(error, match=text):
        clf.predict(change(frame))
