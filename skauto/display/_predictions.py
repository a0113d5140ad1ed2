"""Scores and plots of predicted probabilities, for the report."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.calibration import CalibrationDisplay
from sklearn.metrics import (
    ConfusionMatrixDisplay,
    RocCurveDisplay,
    accuracy_score,
    balanced_accuracy_score,
    log_loss,
    roc_auc_score,
)

from skauto.display._base import BLUE, COLORMAP
from skauto.display._page import figure, table
from skauto.display._words import as_written
from skauto.selection._intervals import Answers, Truth
from skauto.utils import FloatArray, take_rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Largest number of classes for which the cells of the confusion matrix hold numbers.
_N_NUMBERED = 12
# Longest label that is written horizontally.
_SHORT_LABEL = 6
# Inches.
_WIDTH, _HEIGHT = 4.0, 3.6


@dataclass(frozen=True)
class Predictions:
    """Probabilities by class, predicted class codes and true class codes of some rows.

    `rows` are their numbers among the rows of ``fit`` whose weight is not 0; None for other rows.
    """

    probabilities: NDArray[np.float64]
    labels: NDArray[np.intp]
    truth: NDArray[np.intp]
    classes: NDArray[Any]
    rows: NDArray[np.intp] | None = None

    @classmethod
    def out_of_fold(cls, estimator: Any) -> "Predictions | None":
        """Average the out-of-fold probabilities of the members; None if they were not kept."""
        history, weights = estimator.history_, estimator.member_weights_
        members = [history[number].predictions for number in weights]
        if history.goal.targets is None or not members or any(p is None for p in members):
            return None
        total = np.average(members, axis=0, weights=list(weights.values()))
        rows = np.flatnonzero(~np.isnan(total[:, 0]))
        decision = estimator.ensemble_.decision_
        probabilities = decision.scale(total[rows] / total[rows].sum(axis=1, keepdims=True))
        labels = estimator._out_of_fold_labels[rows]
        return cls(probabilities, labels, history.goal.targets[rows], estimator.classes_, rows)

    @classmethod
    def held_out(cls, estimator: Any, X: Any, y: NDArray[Any]) -> "Predictions":
        """Predict held-out rows; a class that ``fit`` has not seen raises a ValueError."""
        classes = estimator.classes_
        unknown = np.setdiff1d(y, classes)
        if len(unknown):
            raise ValueError(
                f"The 'y' of held-out rows must hold classes of fit, {classes.tolist()}. Got "
                f"{unknown[0]}."
            )
        labels = np.searchsorted(classes, estimator.predict(X))
        return cls(estimator.predict_proba(X), labels, np.searchsorted(classes, y), classes)

    @property
    def answers(self) -> Answers:
        """Probabilities and labels, for scores."""
        return Answers(self.probabilities, self.labels)

    def truth_of(self, weight: FloatArray | None, X: Any = None) -> Truth:
        """True classes, for scores; weight and table are those of all rows, or None."""
        truth = Truth(self.truth, self.classes)
        if self.rows is None:
            return replace(truth, weight=weight, X=X)
        weight = None if weight is None else weight[self.rows]
        return replace(truth, weight=weight, X=None if X is None else take_rows(X, self.rows))

    @property
    def _binary(self) -> bool:
        return len(self.classes) == 2

    def scores(self) -> str:
        """Tabulate common scores; ROC AUC only if every class occurs."""
        scores = {
            "rows": len(self.truth),
            "accuracy": accuracy_score(self.truth, self.labels),
            "balanced accuracy": balanced_accuracy_score(self.truth, self.labels),
            "log loss": log_loss(
                self.truth, self.probabilities, labels=np.arange(len(self.classes))
            ),
        }
        if len(np.unique(self.truth)) == len(self.classes):
            name = "ROC AUC" if self._binary else "ROC AUC (one-vs-rest)"
            positive = self.probabilities[:, 1] if self._binary else self.probabilities
            scores[name] = roc_auc_score(self.truth, positive, multi_class="ovr")
        return table(list(scores), [list(scores.values())])

    def figures(self) -> str:
        """Draw confusion matrix, calibration curve and, with two classes, ROC curve."""
        captions = {
            self._draw_confusion: "Confusion matrix, number of rows",
            self._draw_calibration: (
                "Calibration: predicted probability equals observed share on the diagonal"
            ),
        }
        if self._binary and len(np.unique(self.truth)) == 2:
            captions[self._draw_roc] = f"ROC curve of class {self.classes[1]}"
        drawn = [figure(draw, caption, _WIDTH, _HEIGHT) for draw, caption in captions.items()]
        return f'<div class="figures">{"".join(drawn)}</div>'

    def _draw_confusion(self, drawn: "Figure") -> None:
        longest = max(len(str(label)) for label in self.classes)
        ConfusionMatrixDisplay.from_predictions(
            self.truth,
            self.labels,
            labels=np.arange(len(self.classes)),
            display_labels=[as_written(label) for label in self.classes],
            include_values=len(self.classes) <= _N_NUMBERED,
            xticks_rotation="vertical" if longest > _SHORT_LABEL else "horizontal",
            cmap=COLORMAP,
            ax=drawn.subplots(),
        )

    def _draw_calibration(self, drawn: "Figure") -> None:
        """Draw the calibration of the second of two classes, or of the predicted class."""
        if self._binary:
            predicted, happened = self.probabilities[:, 1], self.truth == 1
            name = as_written(self.classes[1])
            axes = f"mean probability of class {name}", f"share of class {name}"
        else:
            predicted = np.take_along_axis(self.probabilities, self.labels[:, None], 1)[:, 0]
            happened = self.labels == self.truth
            axes = "mean probability of the predicted class", "share of correct predictions"
        ax = drawn.subplots()
        CalibrationDisplay.from_predictions(
            happened.astype(int),
            np.clip(predicted, 0.0, 1.0),
            n_bins=10,
            strategy="quantile",
            pos_label=1,
            name="ensemble",
            ax=ax,
            color=BLUE,
        )
        ax.set(xlabel=axes[0], ylabel=axes[1], xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))

    def _draw_roc(self, drawn: "Figure") -> None:
        RocCurveDisplay.from_predictions(
            self.truth,
            self.probabilities[:, 1],
            name="ensemble",
            ax=drawn.subplots(),
            plot_chance_level=True,
            curve_kwargs={"color": BLUE},
        )
