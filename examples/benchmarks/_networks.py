"""Equal networks for all folds, trained at once: ``MLPClassifier`` several times as fast."""

import math
from itertools import pairwise

import numpy as np
from scipy.special import expit


def predict_folds(network, X, y, folds):
    """Out-of-fold labels of a binary ``MLPClassifier`` with its default solver and activation.

    They are those of one fit a fold, up to rounding. Folds with equally many rows have the same
    initial weights and the same batches, so that their matrices are multiplied as stacks.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import StratifiedKFold, cross_val_predict
    >>> from sklearn.neural_network import MLPClassifier
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> network = MLPClassifier((8, 4), tol=0.01, random_state=1)
    >>> folds = list(StratifiedKFold(10).split(X, y))
    >>> one_by_one = cross_val_predict(network, scale(X), y, cv=folds)
    >>> bool((predict_folds(network, scale(X), y, folds) == one_by_one).all())
    True
    """
    predicted = np.empty(len(y), dtype=bool)
    for n_rows in {len(train) for train, _ in folds}:
        some = [fold for fold in folds if len(fold[0]) == n_rows]
        trained = _fit(network, *(np.stack([z[train] for train, _ in some]) for z in (X, y)))
        for i, (_, test) in enumerate(some):
            layers = [(weights[i], intercepts[i]) for weights, intercepts in trained]
            predicted[test] = _forward(layers, X[test])[-1][:, 0] > 0.5
    return predicted.astype(y.dtype)


def _fit(network, X, y):
    """Stacks of weights and of intercepts, by layers; X has the shape (n_folds, n_rows, d)."""
    n_folds, n_rows, d = X.shape
    rng = np.random.RandomState(network.random_state)
    shapes = list(pairwise([d, *network.hidden_layer_sizes, 1]))
    start, decay = [], []
    for n_in, n_out in shapes:
        bound = np.sqrt(6.0 / (n_in + n_out))
        start += [rng.uniform(-bound, bound, n_in * n_out), rng.uniform(-bound, bound, n_out)]
        decay += [np.full(n_in * n_out, network.alpha), np.zeros(n_out)]
    theta = np.tile(np.concatenate(start).astype(X.dtype), (n_folds, 1))
    decay, y = np.concatenate(decay).astype(X.dtype), y.astype(X.dtype)
    final = np.empty_like(theta)
    first, second = np.zeros_like(theta), np.zeros_like(theta)
    best, n_stale = np.full(n_folds, np.inf), np.zeros(n_folds, dtype=int)
    running, rows, step = np.arange(n_folds), np.arange(n_rows), 0
    for _ in range(network.max_iter):
        rows = rows[rng.permutation(n_rows)]
        loss = np.zeros(len(running))
        for batch in np.split(rows, range(200, n_rows, 200)):
            values, gradient = _gradient(theta, shapes, decay, X[:, batch], y[:, batch])
            loss += values * len(batch)
            step += 1
            first += (1 - network.beta_1) * (gradient - first)
            second += (1 - network.beta_2) * (gradient**2 - second)
            rate = math.sqrt(1 - network.beta_2**step) / (1 - network.beta_1**step)
            first_step = network.learning_rate_init * rate * first
            theta -= first_step / (np.sqrt(second) + network.epsilon)
        loss /= n_rows
        n_stale = np.where(loss > best - network.tol, n_stale + 1, 0)
        best = np.fmin(best, loss)
        on = n_stale <= network.n_iter_no_change
        if not on.all():
            final[running[~on]] = theta[~on]
            theta, first, second, best, n_stale = (
                z[on] for z in (theta, first, second, best, n_stale)
            )
            X, y, running = X[on], y[on], running[on]
        if not len(running):
            break
    final[running] = theta
    if not np.isfinite(final).all():
        raise ValueError("The weights of a network are not finite.")
    return _layers(final, shapes)


def _gradient(theta, shapes, decay, X, y):
    """Loss of each fold on a batch, with its gradient."""
    layers = _layers(theta, shapes)
    outputs = _forward(layers, X)
    p, n_rows = outputs[-1][..., 0], X.shape[1]
    tiny = np.finfo(p.dtype).eps
    right = np.clip(np.where(y == 1, p, 1 - p), tiny, 1 - tiny)
    loss = -np.log(right).mean(axis=1) + 0.5 * (decay * theta**2).sum(axis=1) / n_rows
    gradient = np.empty_like(theta)
    delta = (p - y)[..., None]
    slopes, ones = _layers(gradient, shapes), np.ones((1, n_rows), dtype=p.dtype)
    for i in reversed(range(len(layers))):
        np.matmul(outputs[i].swapaxes(1, 2), delta, out=slopes[i][0])
        np.matmul(ones, delta, out=slopes[i][1])
        if i:
            delta = np.matmul(delta, layers[i][0].swapaxes(1, 2))
            delta *= outputs[i] > 0
    gradient += decay * theta
    return loss, gradient / n_rows


def _layers(theta, shapes):
    """Views of the weights and the intercepts of each layer."""
    layers, start = [], 0
    for n_in, n_out in shapes:
        middle, end = start + n_in * n_out, start + (n_in + 1) * n_out
        weights = theta[:, start:middle].reshape(-1, n_in, n_out)
        layers.append((weights, theta[:, None, middle:end]))
        start = end
    return layers


def _forward(layers, X):
    """Inputs of all layers and the probabilities."""
    outputs = [X]
    for weights, intercepts in layers:
        Z = np.matmul(outputs[-1], weights)
        Z += intercepts
        outputs.append(np.maximum(Z, 0.0, out=Z) if len(outputs) < len(layers) else expit(Z))
    return outputs
