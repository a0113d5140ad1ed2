"""A multi-layer perceptron in NumPy, after RealMLP-TD-S."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import log, sqrt
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import softmax
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from skauto.space.catalog._rounds import RoundsClassifier, Stage, known_rows, takes_stages
from skauto.utils import check_sample_weight

# Number of rows that are predicted at once, which bounds the memory of the hidden layers.
_BLOCK = 8192
# Klambauer et al., "Self-normalizing neural networks", NeurIPS 2017.
SELU_SCALE, SELU_ALPHA = 1.0507009873554805, 1.6732632423543772
_BETA_1, _BETA_2, _EPSILON = 0.9, 0.95, 1e-8
# Factors of the learning rate for the input scale, the weights and the biases.
_RATES = {"scale": 6.0, "weight": 1.0, "bias": 0.1}


@dataclass(kw_only=True, eq=False, repr=False)
class NetworkClassifier(RoundsClassifier):
    """Multi-layer perceptron after RealMLP-TD-S [1]_, trained in NumPy.

    It has a learned scale of each input, weights in the neural tangent parametrization, SELU
    activations, label smoothing, and Adam with a cyclic learning rate (four cycles). An ensemble
    of networks with different initial weights is trained on the same batches; the prediction is
    the mean of their probabilities. Columns should be scaled, without outliers.

    Parameters
    ----------
    depth : int, default=2
        Number of hidden layers.
    width : int, default=64
        Number of units of each hidden layer.
    learning_rate : float, default=0.04
        Maximum of the learning rate.
    dropout : float, default=0.0
        Share of hidden units that are dropped in a step.
    label_smoothing : float, default=0.1
        Share of the target probability that is uniform over all classes. Predicted probabilities
        are corrected for it.
    n_members : int, default=4
        Number of networks.
    max_rounds : int, default=64
        Number of epochs of the learning-rate schedule.
    n_rounds : int, default=None
        Number of epochs of a fit without validation rows, which ends the schedule early, at the
        nearest end of a cycle; None means `max_rounds`.
    batch_size : int, default=256
        Number of rows of a batch.
    random_state : int, RandomState instance or None, default=None
        Seed of initial weights, batches and dropout.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    n_features_in_ : int
        Number of columns.
    n_rounds_ : int
        Number of epochs of the final weights.
    validation_stages_ : list of Stage
        Predictions of the validation rows at the ends of the cycles.

    References
    ----------
    .. [1] D. Holzmueller, L. Grinsztajn, I. Steinwart, "Better by default: strong pre-tuned MLPs
       and boosted trees on tabular data", NeurIPS 2024.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.preprocessing import scale
    >>> from skauto.space.catalog import NetworkClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> NetworkClassifier(random_state=0).fit(scale(X), y).score(scale(X), y) > 0.95
    True
    """

    depth: int = 2
    width: int = 64
    learning_rate: float = 0.04
    dropout: float = 0.0
    label_smoothing: float = 0.1
    n_members: int = 4
    max_rounds: int = 64
    n_rounds: int | None = None
    batch_size: int = 256
    random_state: Any = None

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, eval_set: tuple[Any, Any] | None = None
    ) -> "NetworkClassifier":
        """Train the networks.

        With ``eval_set=(X_val, y_val)``, the weights at the end of the cycle of the learning rate
        with the lowest log loss are kept, and training stops after the third cycle if it has not
        lowered the loss. Rows whose class is not in `y` are dropped.
        """
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float32)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if sample_weight is None:
            weights = np.ones(len(codes), dtype=np.float32)
        else:
            weights = check_sample_weight(sample_weight, len(codes)).astype(np.float32)
            X, codes, weights = X[weights > 0], codes[weights > 0], weights[weights > 0]
            weights /= weights.mean()
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        targets = np.full((len(codes), len(self.classes_)), self.label_smoothing, np.float32)
        targets /= len(self.classes_)
        targets[np.arange(len(codes)), codes] += 1.0 - self.label_smoothing
        held_out = None if eval_set is None else known_rows(eval_set, self.classes_)
        if held_out is None:
            # the end of a cycle that is nearest to `n_rounds` on a log scale
            wanted = self.n_rounds or self.max_rounds
            ends = _ends_of_cycles(self.max_rounds)
            last = min(ends, key=lambda end: abs(log(end / wanted)))
            for _ in self._epochs(X, targets, weights, last, rng):
                pass
            self.n_rounds_ = last
        else:
            epochs = self._epochs(X, targets, weights, self.max_rounds, rng)
            self._keep_best(epochs, *held_out)
        return self

    def _keep_best(self, epochs: Iterator[int], X: Any, y: Any) -> None:
        """Keep the weights of the best cycle.

        With the best of all epochs, the log loss of small validation sets is 10% too low.
        """
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float32, reset=False)
        self.validation_stages_: list[Stage] = []
        rows, codes = np.arange(len(y)), np.searchsorted(self.classes_, y)
        best: Any = None
        best_loss = np.inf
        *_, third, _ = ends = _ends_of_cycles(self.max_rounds)
        for epoch in epochs:
            if epoch not in ends:
                continue
            probabilities = self._probabilities(X, self._weights)
            loss = float(-np.log(np.maximum(probabilities[rows, codes], 1e-7)).mean())
            if takes_stages(*probabilities.shape):
                self.validation_stages_.append(Stage(epoch, probabilities))
            if best is None or loss < best_loss:
                self.n_rounds_, best, best_loss = epoch, self._weights.copy(), loss
            elif epoch >= third:
                break
        self._weights: Any = best

    def _epochs(
        self, X: Any, targets: Any, weights: Any, last: int, rng: np.random.Generator
    ) -> Iterator[int]:
        """Train `_weights` with Adam; yield the number of epochs after each epoch."""
        n_samples = X.shape[0]
        size = min(self.batch_size, n_samples)
        n_batches = n_samples // size
        # kind and shape of each array of a member; learning-rate factor of each weight
        self._shapes, rates = self._layout(X.shape[1], targets.shape[1])
        flat = _initial(self._shapes, self.n_members, rng)  # all arrays of all members
        self._weights = flat
        gradient, mean, square = np.zeros_like(flat), np.zeros_like(flat), np.zeros_like(flat)
        n_steps, step = n_batches * self.max_rounds, 0
        for epoch in range(1, last + 1):
            order = rng.permutation(n_samples)
            for k in range(n_batches):
                rows = order[k * size : (k + 1) * size]
                self._backward(X[rows], targets[rows], weights[rows], gradient, rng)
                rate = self.learning_rate * _schedule(step / n_steps)
                step += 1
                mean += (1.0 - _BETA_1) * (gradient - mean)
                square += (1.0 - _BETA_2) * (gradient * gradient - square)
                scale = sqrt(1.0 - _BETA_2**step) / (1.0 - _BETA_1**step)
                flat -= rates * (rate * scale) * mean / (np.sqrt(square) + _EPSILON)
            yield epoch

    def _layout(self, n_features: int, n_classes: int) -> tuple[list[Any], Any]:
        """Return the shapes of a network's arrays and the learning-rate factor of each weight."""
        widths = [n_features, *[self.width] * self.depth, n_classes]
        shapes: list[tuple[str, tuple[int, int]]] = [("scale", (n_features, 1))]
        for n_in, n_out in zip(widths[:-1], widths[1:], strict=True):
            shapes += [("weight", (n_in, n_out)), ("bias", (1, n_out))]
        sizes = [self.n_members * rows * columns for _, (rows, columns) in shapes]
        rates = np.repeat([_RATES[kind] for kind, _ in shapes], sizes).astype(np.float32)
        return shapes, rates

    def _arrays(self, flat: Any) -> list[Any]:
        """Return views of a flat vector as arrays of shape (n_members, rows, columns)."""
        arrays, start = [], 0
        for _, (rows, columns) in self._shapes:
            stop = start + self.n_members * rows * columns
            arrays.append(flat[start:stop].reshape(self.n_members, rows, columns))
            start = stop
        return arrays

    def _backward(
        self, X: Any, targets: Any, weights: Any, gradient: Any, rng: np.random.Generator
    ) -> None:
        """Write the gradient of the mean cross-entropy on a batch into `gradient`."""
        scale, *layers = self._arrays(self._weights)
        scale_slope, *slopes = self._arrays(gradient)
        hidden, masks = [], []
        values = _product(X, scale * layers[0], X.shape[1]) + layers[1]
        for k in range(2, len(layers), 2):
            values = _selu(values)
            masks.append(_mask(values.shape, self.dropout, rng))
            hidden.append(values if masks[-1] is None else values * masks[-1])
            factor = values.dtype.type(1.0 / sqrt(values.shape[2]))
            values = factor * (hidden[-1] @ layers[k]) + layers[k + 1]
        slope = softmax(values, axis=2) - targets
        slope *= (weights / len(targets))[:, None]
        for k in range(len(layers) - 2, 0, -2):
            inputs, mask = hidden.pop(), masks.pop()
            factor = inputs.dtype.type(1.0 / sqrt(inputs.shape[2]))
            np.matmul(inputs.transpose(0, 2, 1), factor * slope, out=slopes[k])
            slopes[k + 1][:] = slope.sum(axis=1, keepdims=True)
            slope = factor * (slope @ layers[k].transpose(0, 2, 1))
            if mask is not None:
                slope *= mask
                inputs = np.divide(inputs, mask, out=np.zeros_like(inputs), where=mask > 0)
            slope *= _selu_slope(inputs)
        slopes[1][:] = slope.sum(axis=1, keepdims=True)
        outer = _product(X.T, slope, X.shape[1])
        np.multiply(outer, scale, out=slopes[0])
        scale_slope[:] = (outer * layers[0]).sum(axis=2, keepdims=True)

    def _probabilities(self, X: Any, flat: Any) -> Any:
        """Return the mean probabilities of the members, shape (n_samples, n_classes)."""
        scale, *layers = self._arrays(flat)
        first = scale * layers[0]
        blocks = []
        for start in range(0, X.shape[0], _BLOCK):
            values = _product(X[start : start + _BLOCK], first, X.shape[1]) + layers[1]
            for k in range(2, len(layers), 2):
                factor = values.dtype.type(1.0 / sqrt(values.shape[2]))
                values = factor * (_selu(values) @ layers[k]) + layers[k + 1]
            blocks.append(softmax(values, axis=2).mean(axis=0))
        return _without_smoothing(np.vstack(blocks), self.label_smoothing)

    def predict_proba(self, X: Any) -> Any:
        """Predict class probabilities, the mean over the networks."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        # float64, because in float32 the probabilities of a row depend on the number of rows
        return self._probabilities(X, self._weights.astype(np.float64))

    def layers(self) -> list[tuple[Any, Any]]:
        """Return the effective weights and biases of each layer, including all scale factors.

        Their shapes are (n_members, n_in, n_out) and (n_members, 1, n_out).
        """
        check_is_fitted(self)
        scale, *arrays = self._arrays(self._weights.astype(np.float64))
        arrays[0] = scale * arrays[0]
        pairs = zip(arrays[::2], arrays[1::2], strict=True)
        return [(weights / sqrt(weights.shape[1]), bias) for weights, bias in pairs]


def _without_smoothing(probabilities: Any, share: float) -> Any:
    """Invert label smoothing: solve q = (1 - share) p + share / n_classes for p.

    The result is clipped from below at ``0.1 * share / n_classes``, because p may be negative.
    """
    if not share:
        return probabilities
    n_classes = probabilities.shape[1]
    given = (probabilities - share / n_classes) / (1.0 - share)
    given = np.maximum(given, 0.1 * share / n_classes)
    return given / given.sum(axis=1, keepdims=True)


def _initial(shapes: list[Any], n_members: int, rng: np.random.Generator) -> Any:
    """Draw initial weights: scales of 1, normal weights and biases, zeros in the last layer."""
    parts = []
    for k, (kind, shape) in enumerate(shapes):
        size = n_members * shape[0] * shape[1]
        if kind == "scale":
            parts.append(np.ones(size, dtype=np.float32))
        elif k >= len(shapes) - 2:
            parts.append(np.zeros(size, dtype=np.float32))
        else:
            parts.append(rng.standard_normal(size, dtype=np.float32))
    return np.concatenate(parts)


def _product(X: Any, stack: Any, n_inputs: int) -> Any:
    """Multiply a dense or sparse matrix by each matrix of a stack, and by 1 / sqrt(n_inputs)."""
    factor = X.dtype.type(1.0 / sqrt(n_inputs))
    if not sparse.issparse(X):
        return X @ (factor * stack)
    n_members, n_rows, width = stack.shape
    flat = factor * stack.transpose(1, 0, 2).reshape(n_rows, n_members * width)
    return (X @ flat).reshape(-1, n_members, width).transpose(1, 0, 2)


def _mask(shape: tuple[int, ...], dropout: float, rng: np.random.Generator) -> Any:
    """Draw a dropout mask, scaled by 1 / (1 - dropout); None without dropout."""
    if not dropout:
        return None
    kept = rng.random(shape, dtype=np.float32) >= dropout
    return kept * np.float32(1.0 / (1.0 - dropout))


def _selu(values: Any) -> Any:
    negative = np.minimum(values, 0.0)
    result = (values - negative) * values.dtype.type(SELU_SCALE)
    np.exp(negative, out=negative)
    negative -= 1.0
    negative *= values.dtype.type(SELU_ALPHA * SELU_SCALE)
    result += negative
    return result


def _selu_slope(activations: Any) -> Any:
    """Return the derivative of SELU, given its value."""
    scale, limit = np.array([SELU_SCALE, SELU_SCALE * SELU_ALPHA], dtype=activations.dtype)
    slope = np.minimum(activations, 0.0)
    slope += limit
    slope -= (activations > 0) * (limit - scale)  # faster than np.where
    return slope


def _schedule(t: float) -> float:
    """Return the coslog4 schedule at a share `t` of the steps: four cycles of doubling length."""
    return 0.5 - 0.5 * float(np.cos(2.0 * np.pi * np.log2(1.0 + 15.0 * t)))


def _ends_of_cycles(n_epochs: int) -> list[int]:
    """Return the epochs at which the four cycles end, and the learning rate is 0."""
    return [max(1, round(n_epochs * (2**k - 1) / 15)) for k in (1, 2, 3, 4)]
