"""Checkpoints: durable, readable, and resumed only by the same search."""

import json
import math
import os
import signal
import subprocess
import sys
import time
import warnings
import zlib
from functools import partial

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skauto import AutoClassifier, SearchOptions
from skauto.exceptions import CheckpointError, CheckpointWarning
from skauto.history import Checkpoint, Trial
from skauto.space import Configuration, Integer, Parameter, Real, SearchSpace
from skauto.strategies import STRATEGIES
from tests.polling import wait_until
from tests.strategy_settings import make_strategy, quick_space


def make_space():
    space = SearchSpace(["classifier"])
    return space.add(
        "classifier", "gaussian_nb", GaussianNB(), {"var_smoothing": Real(1e-9, 1.0, log=True)}
    )


def search(path, strategy="random", **kwargs):
    settings = {"max_evals": 8, "random_state": 0, "space": make_space(), "initial": None, "cv": 3}
    return AutoClassifier(
        strategy, **{**settings, **kwargs}, options=SearchOptions(checkpoint=path)
    )


@pytest.fixture
def path(tmp_path):
    return tmp_path / "folder" / "search.jsonl"


def test_a_trial_comes_back_as_it_was(path):
    space = make_space()
    trial = Trial(
        number=0,
        configuration=space.decode(space.sample(1, np.random.default_rng(0))[0]),
        losses=(0.25, math.inf),
        tie_break=0.5,
        fidelity=0.5,
        constraints={"latency": 1e-5},
        cost=2.5,
        started=1.0,
        ended=3.5,
        runs=((1.0, 2.0), (2.25, 3.5)),
        fold_scores={"accuracy": (0.7, math.nan)},
        fit_times=(1.0, 1.5),
        score_times=(0.1, 0.2),
        predictions=np.random.default_rng(0).random((5, 3)).astype(np.float32),
        origin="random",
        info={"step": np.int64(3)},
    )
    with Checkpoint(path) as checkpoint:
        assert checkpoint.resume({}, space) == []
        checkpoint.append(trial)
    with Checkpoint(path) as checkpoint:
        (read,) = checkpoint.resume({}, space)
    np.testing.assert_array_equal(read.predictions, trial.predictions)
    assert read.configuration == trial.configuration
    assert math.isnan(read.fold_scores["accuracy"][1])
    assert read.info == {"step": 3}
    names = "losses tie_break fidelity constraints cost started ended runs fit_times origin"
    for name in names.split():
        assert getattr(read, name) == getattr(trial, name)


class Object(Parameter):
    """One of some objects that JSON cannot hold."""

    n_choices = 2

    def __init__(self, *objects):
        self.objects = objects
        self.default = objects[0]

    def to_unit(self, values):
        return np.array([self.objects.index(value) for value in values]) * 1.0

    def from_unit(self, u):
        return [self.objects[int(round(unit))] for unit in np.asarray(u)]

    def describe(self):
        return "one of the objects"

    def __repr__(self):
        return "Object()"


def test_a_configuration_comes_back_as_it_was(path):
    objects = GaussianNB(), math.nan
    choices = [None, True, 2, 0.1, "text", (1, ("a", None))]
    parameters = {
        "real": Real(1e-3, 1e3, log=True),
        "integer": Integer(1, 10),
        "normal": norm(),
        "choice": choices,
        "object": Object(*objects),
    }
    space = SearchSpace().add("classifier", "any", dict, parameters)
    settings = [
        {"real": 1 / 3, "integer": 3, "normal": 2 / 3, "choice": choice, "object": objects[i % 2]}
        for i, choice in enumerate(choices)
    ]
    settings.append(settings[0] | {"real": np.float32(1 / 3), "integer": np.int64(3)})
    settings.append(settings[0] | {"choice": [1, ["a", None]]})
    configurations = [Configuration({"classifier": ("any", values)}) for values in settings]
    with Checkpoint(path) as checkpoint:
        checkpoint.resume({}, space)
        for number, configuration in enumerate(configurations):
            checkpoint.append(Trial(number=number, configuration=configuration))
    with Checkpoint(path) as checkpoint:
        read = [trial.configuration for trial in checkpoint.resume({}, space)]
    assert read == configurations
    assert list(map(repr, read)) == list(map(repr, configurations))


def test_given_configurations_are_not_evaluated_again(iris, path):
    space = one(LogisticRegression(), parameters={"C": Real(1e-3, 1e3, log=True)})
    given = Configuration({"classifier": ("one", {"C": 1 / 3})})
    search(path, space=space, initial=[given], max_evals=2).fit(*iris)
    clf = search(path, space=space, initial=[given], max_evals=4).fit(*iris)
    values = [trial.configuration.parameters("classifier")["C"] for trial in clf.history_]
    assert values[0] == 1 / 3
    assert not any(math.isclose(value, 1 / 3, rel_tol=1e-9) for value in values[1:])


def test_every_line_is_json_with_a_checksum(iris, path):
    search(path).fit(*iris)
    lines = path.read_text().splitlines()
    records = [json.loads(line.rpartition("\t")[0]) for line in lines]
    assert len(records) == 1 + 8
    assert records[0]["format"] == "skauto checkpoint"
    assert "var_smoothing" in records[1]["configuration"]["classifier"]


def test_the_same_fit_continues(iris, path):
    first = search(path).fit(*iris)
    content = path.read_bytes()
    again = search(path).fit(*iris)
    assert path.read_bytes() == content
    np.testing.assert_array_equal(first.predict_proba(iris[0]), again.predict_proba(iris[0]))
    more = search(path, max_evals=12).fit(*iris)
    configurations = [trial.configuration for trial in more.history_]
    assert configurations[:8] == [trial.configuration for trial in first.history_]
    assert len(set(configurations)) == 12


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_an_interrupted_search_ends_as_if_it_had_not_been(iris, path, strategy):
    settings = {"strategy": make_strategy(strategy), "space": quick_space(), "max_evals": 7}
    whole = search(path, **settings).fit(*iris)
    header, *lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([header, *lines[:2], *lines[3:5]]))  # two workers were busy
    resumed = search(path, **settings).fit(*iris)
    for one, other in zip(whole.history_, resumed.history_, strict=True):
        assert (one.configuration, one.losses) == (other.configuration, other.losses)
    np.testing.assert_array_equal(*(clf.predict_proba(iris[0]) for clf in (whole, resumed)))
    assert len(path.read_bytes().splitlines()) == 1 + len(lines) == 8


def test_trials_that_another_strategy_would_not_propose_are_used_too(iris, path):
    first = search(path, max_evals=4).fit(*iris)
    for n_trials in (7, 9):  # the second time, two strategies have written to the file
        clf = search(path, strategy="joint_gp", max_evals=n_trials).fit(*iris)
        tried = [trial.configuration for trial in clf.history_]
        assert len(set(tried)) == len(tried) == n_trials
        assert set(tried) >= {trial.configuration for trial in first.history_}
        first = clf


def test_without_a_seed_the_one_on_disk_is_used(iris, path):
    search(path, random_state=None).fit(*iris)
    assert len(search(path, random_state=None, max_evals=10).fit(*iris).history_) == 10


@pytest.mark.parametrize(
    "change, what",
    [
        ({"random_state": 1}, "seed"),
        ({"cv": 4}, "folds"),
        ({"scoring": "neg_log_loss"}, "scoring"),
        ({"space": make_space().add("classifier", "other", GaussianNB())}, "space"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_another_search_is_refused(iris, path, change, what):
    search(path).fit(*iris)
    content = path.read_bytes()
    with pytest.raises(CheckpointError, match=f"belongs to another search: .*{what}"):
        search(path, **change).fit(*iris)
    assert path.read_bytes() == content


def test_a_metric_of_the_user_is_recognized(iris, path):
    def fit(max_evals):
        metric = make_scorer(lambda y, predicted: np.mean(y == predicted))
        return search(path, scoring=metric, max_evals=max_evals).fit(*iris)

    first, more = (fit(max_evals).history_ for max_evals in (3, 6))
    assert len(more) == 6
    assert [t.configuration for t in more[:3]] == [t.configuration for t in first]


def one(estimator, **kwargs):
    """A space of one algorithm."""
    return SearchSpace().add("classifier", "one", estimator, **kwargs)


def scaled(C):
    return one(make_pipeline(StandardScaler(), LogisticRegression(C=C)))


def made(C):
    return one(lambda **values: LogisticRegression(C=C, **values))


@pytest.mark.parametrize(
    "space, other",
    [
        (one(GaussianNB()), one(BernoulliNB())),
        (one(LogisticRegression(C=1e-8)), one(LogisticRegression())),
        (scaled(1.0), scaled(2.0)),
        (one(partial(LogisticRegression, C=1.0)), one(partial(LogisticRegression, C=2.0))),
        (made(1.0), made(2.0)),
        (one(GaussianNB(priors=[0.5, 0.5])), one(GaussianNB(priors=[0.4, 0.6]))),
        (
            one(GaussianProcessClassifier(kernel=RBF(1.0))),
            one(GaussianProcessClassifier(kernel=RBF(2.0))),
        ),
        (
            one(LogisticRegression(), parameters={"C": [1.0]}),
            one(LogisticRegression(), parameters={"C": [2.0]}),
        ),
        (one(GaussianNB()), one(GaussianNB(), balancing="weights")),
    ],
    ids=[
        "type",
        "parameter",
        "inner",
        "partial",
        "closure",
        "list",
        "kernel",
        "setting",
        "balancing",
    ],
)
def test_spaces_of_other_estimators_differ(space, other):
    assert space.fingerprint() != other.fingerprint()
    assert space.fingerprint() == space.subspace({}).fingerprint()


def test_trials_of_another_estimator_are_not_continued(iris, path):
    search(path, space=one(LogisticRegression(C=1e-8)), max_evals=1).fit(*iris)
    with pytest.raises(CheckpointError, match="belongs to another search: space differ"):
        search(path, space=one(LogisticRegression(C=1.0)), max_evals=1).fit(*iris)
    clf = AutoClassifier(
        space=one(LogisticRegression(C=1e-8)),
        max_evals=1,
        cv=2,
        options=SearchOptions(warm_start=True),
    ).fit(*iris)
    with pytest.raises(ValueError, match="'warm_start', fit continues the last search: space"):
        clf.set_params(space=one(LogisticRegression(C=1.0))).fit(*iris)


def space_of_objects():
    """A space whose estimators hold objects: their texts have addresses, or sets an order."""
    space = SearchSpace(["selector", "classifier"])
    space.add("selector", "none").add("selector", "best", SelectKBest(f_classif, k=1))
    folds = StratifiedKFold(3, shuffle=True, random_state=np.random.RandomState(0))
    for name, estimator in {
        "bayes": GaussianNB(priors=np.array([0.5, 0.5])),
        "process": GaussianProcessClassifier(kernel=RBF(2.0)),
        "factory": partial(LogisticRegression, C=2.0),
        "function": lambda **values: LogisticRegression(**values),
        "random": LogisticRegression(random_state=np.random.RandomState(0)),
        "objects": LogisticRegression(class_weight={"a": {"x", "y", "z"}, "b": folds}),
    }.items():
        space.add("classifier", name, estimator)
    return space.forbid({"selector": "best"}, {"classifier": ["bayes", "process", "random"]})


def test_another_process_describes_a_space_the_same():
    code = (
        "from tests.history.test_checkpoint import space_of_objects\n"
        "print(space_of_objects().fingerprint())"
    )
    for seed in ("1", "2"):
        shown = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        assert shown.stdout.strip() == space_of_objects().fingerprint()


def test_forbidden_pairs_belong_to_a_space():
    def space():
        return (
            SearchSpace(["scaler", "classifier"])
            .add("scaler", "none")
            .add("scaler", "standard", StandardScaler())
            .add("classifier", "bayes", GaussianNB())
            .add("classifier", "logistic", LogisticRegression())
        )

    free = space()
    first = space().forbid({"scaler": "none"}, {"classifier": ["bayes", "logistic"]})
    same = space().forbid({"classifier": "logistic"}, {"scaler": "none"})
    same.forbid({"classifier": "bayes"}, {"scaler": "none"})
    other = space().forbid({"scaler": "none"}, {"classifier": "bayes"})
    assert first.fingerprint() == same.fingerprint()
    assert len({each.fingerprint() for each in (free, first, other)}) == 3
    part, free_part = (each.subspace({"scaler": "standard"}) for each in (first, free))
    assert part.fingerprint() == free_part.fingerprint()


def test_a_space_with_too_many_structures_to_list_continues(iris, path):
    space = SearchSpace([*"abcdefg", "classifier"]).add("classifier", "bayes", GaussianNB())
    for step in space.steps[:-1]:
        for number in range(8):
            space.add(step, f"none_{number}")
    search(path, space=space, max_evals=2).fit(*iris)
    assert len(search(path, space=space, max_evals=3).fit(*iris).history_) == 3


def test_other_data_are_refused(iris, path):
    X, y = iris
    search(path).fit(X, y)
    with pytest.raises(CheckpointError, match="data"):
        search(path).fit(X + 1e-9, y)


def test_a_torn_tail_is_recovered_and_reported(iris, path):
    search(path).fit(*iris)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.warns(CheckpointWarning, match="dropped. 7 trials were recovered"):
        clf = search(path).fit(*iris)
    assert len(clf.history_) == 8
    assert len(path.read_bytes().splitlines()) == 9


def test_a_torn_header_starts_over(iris, path):
    path.parent.mkdir()
    for length in (0, 1, 20, 60):
        search(path.with_name("whole")).fit(*iris)
        path.write_bytes(path.with_name("whole").read_bytes()[:length])
        assert len(search(path).fit(*iris).history_) == 8


def test_damage_in_the_middle_is_an_error(iris, path):
    search(path).fit(*iris)
    lines = path.read_bytes().splitlines(keepends=True)
    lines[3] = lines[3].replace(b"0.", b"1.", 1)
    path.write_bytes(b"".join(lines))
    with pytest.raises(CheckpointError, match="damaged in line 4"):
        search(path).fit(*iris)


@pytest.mark.parametrize(
    "change",
    [{"number": "x"}, {"vector": 5}, {"configuration": None}, {"predictions": "x"}, {"other": 1}]
    + [{"status": "fine"}, {"predictions": {"shape": [10**9, 10**9], "float32": "!"}}],
    ids=str,
)
def test_lines_that_skauto_has_not_written_are_damage_although_their_checksum_is_right(
    iris, path, change
):
    search(path).fit(*iris)
    lines = path.read_bytes().splitlines(keepends=True)
    record = json.loads(lines[2].rpartition(b"\t")[0]) | change
    text = json.dumps(record).encode()
    lines[2] = text + f"\t{zlib.crc32(text):08x}\n".encode()
    path.write_bytes(b"".join(lines))
    with pytest.raises(CheckpointError, match="damaged in line 3"):
        search(path).fit(*iris)


def test_foreign_files_and_versions_are_refused(iris, path):
    path.parent.mkdir()
    path.write_text("something else\n")
    with pytest.raises(CheckpointError, match="not a checkpoint of skauto"):
        search(path).fit(*iris)
    assert path.read_text() == "something else\n"


def test_two_searches_cannot_share_a_file(path):
    with Checkpoint(path) as one, Checkpoint(path) as two:
        one.resume({}, make_space())
        with pytest.raises(CheckpointError, match="in use by another process"):
            two.resume({}, make_space())


def has_lines(path, n_lines):
    return path.exists() and path.read_bytes().count(b"\n") >= n_lines


def test_kill_at_any_moment_loses_nothing(iris, path):
    """After eight kills at random times, each finished trial is in the file exactly once."""
    rng = np.random.default_rng(0)
    seen: list[str] = []
    for _ in range(8):
        child = os.fork()
        if child == 0:
            try:
                search(path, max_evals=10_000).fit(*iris)
            finally:
                os._exit(0)
        wait_until(partial(has_lines, path, len(seen) + int(rng.integers(5))))
        time.sleep(float(rng.uniform(0.0, 0.05)))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        with warnings.catch_warnings(), Checkpoint(path) as checkpoint:
            warnings.simplefilter("ignore", CheckpointWarning)
            header = checkpoint.header()
            if header is None:
                continue
            about = {k: header[k] for k in ("seed", "data", "folds", "scoring")}
            found = [repr(trial.configuration) for trial in checkpoint.resume(about, make_space())]
        assert set(seen) <= set(found)
        assert len(set(found)) == len(found)
        seen = found
    assert len(seen) > 8
    assert len(search(path, max_evals=len(seen) + 2).fit(*iris).history_) == len(seen) + 2


@pytest.fixture
def limit_file_size():
    """A function that sets the size that no file can exceed, as on a full disk."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_disk_without_room_for_the_header(iris, path, limit_file_size):
    limit_file_size(10)
    with pytest.raises(CheckpointError, match=r"search\.jsonl' cannot be written"):
        search(path).fit(*iris)


def test_a_full_disk_keeps_the_search(iris, path, limit_file_size):
    limit_file_size(9_000)
    with pytest.warns(CheckpointWarning, match=r"search\.jsonl cannot be written"):
        clf = search(path).fit(*iris)
    limit_file_size(-1)  # no limit
    assert len(clf.history_) == 8 and {t.status for t in clf.history_} <= {"ok", "stopped"}
    n_written = path.read_bytes().count(b"\n") - 1
    with pytest.warns(CheckpointWarning, match=f"{n_written} trials were recovered"):
        again = search(path).fit(*iris)
    assert 0 < n_written < 8
    losses = [[trial.loss for trial in model.history_[:n_written]] for model in (again, clf)]
    assert losses[0] == losses[1]


@pytest.mark.parametrize(
    "kind", ["folder", "empty", "pipe", "below a file", "device", "long", "null"]
)
def test_a_path_that_cannot_be_a_checkpoint_is_refused(iris, tmp_path, kind):
    (tmp_path / "file").write_text("x")
    os.mkfifo(tmp_path / "pipe")
    path = {
        "folder": tmp_path,
        "empty": "",
        "pipe": tmp_path / "pipe",
        "below a file": tmp_path / "file" / "c",
        "device": os.devnull,
        "long": tmp_path / ("x" * 300),
        "null": f"{tmp_path}/a\0b",
    }[kind]
    with pytest.raises(CheckpointError, match="[Cc]heckpoint"):
        search(path).fit(*iris)


def test_a_file_that_was_appended_to_itself_is_damaged(iris, path):
    search(path, max_evals=2).fit(*iris)
    path.write_bytes(2 * path.read_bytes())
    with pytest.raises(CheckpointError, match="damaged in line 4"):
        search(path, max_evals=2).fit(*iris)


def test_only_the_owner_can_read_it(iris, path):
    for _ in range(2):
        search(path, max_evals=1).fit(*iris)
        assert path.stat().st_mode & 0o077 == 0
        path.chmod(0o644)
