"""What the programs that these tests start have in common."""

import os

import pytest

import skauto


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
