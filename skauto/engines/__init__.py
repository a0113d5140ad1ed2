"""Run a function in this process, in killable worker processes, or on a joblib backend.

Engines do not depend on pipelines, trials or scores.
"""

from skauto.engines._base import Engine, Outcome
from skauto.engines._joblib import JoblibEngine
from skauto.engines._make import SerialEngine, make_engine
from skauto.engines._processes import ProcessEngine

__all__ = ["Engine", "JoblibEngine", "Outcome", "ProcessEngine", "SerialEngine", "make_engine"]
