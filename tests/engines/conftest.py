"""What the programs that these tests start have in common."""

import os

import pytest
from joblib.externals.loky import get_reusable_executor

import skauto
from tests.engines.tasks import ENGINES, Task
from tests.process_state import belongings


@pytest.fixture(scope="session")
def engines_only(tmp_path_factory):
    """Environment of a program whose ``import skauto.engines`` loads no other layer.

    The ``__init__`` of the package imports everything, and scikit-learn imports pandas if it is
    there. This takes seconds in a program and again in each worker that is not forked.
    """
    package = tmp_path_factory.mktemp("path") / "skauto"
    package.mkdir()
    (package / "__init__.py").write_text(f"__path__ = {list(skauto.__path__)!r}\n")
    (package.parent / "pandas.py").write_text("raise ImportError")
    return {**os.environ, "PYTHONPATH": str(package.parent)}


@pytest.fixture(params=ENGINES)
def engine(request):
    with ENGINES[request.param](Task()) as engine:
        yield engine


@pytest.fixture(scope="module")
def no_loky():
    """End the workers of joblib that earlier tests left: they come and go as they like."""
    get_reusable_executor().shutdown(wait=True, kill_workers=True)
    belongings()  # the first look opens descriptors of its own


@pytest.fixture
def nothing_left_behind(no_loky):
    """No process, thread or descriptor is left by a test."""
    before = belongings()
    yield
    assert belongings() == before
