"""The last search of an estimator, which a warm start continues."""

from collections.abc import Mapping
from dataclasses import dataclass

from skauto.data._splits import Split
from skauto.history import History


@dataclass(frozen=True, eq=False)
class LastSearch:
    """Trials, seed and folds of a search, and the facts by which it is recognised."""

    history: History
    seed: int
    splits: list[Split]
    facts: Mapping[str, str]

    def check(self, facts: Mapping[str, str]) -> None:
        """Raise a ValueError if a fact of the new search differs."""
        differing = [name for name in facts if facts[name] != self.facts[name]]
        if differing:
            raise ValueError(
                f"With 'warm_start', fit continues the last search: {', '.join(differing)} "
                "differ. Call fit as before, or set warm_start=False to start anew."
            )
