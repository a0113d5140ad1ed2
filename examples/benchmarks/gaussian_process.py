"""Seconds of a Gaussian process fit, ours against scikit-learn's, in one run.

Same data, kernel, bounds and number of restarts; the priors of ours are off, so that both maximise
the same likelihood. Called as ``python examples/benchmarks/gaussian_process.py``.
"""

import time
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

from skauto.surrogates import GaussianProcess

N_SAMPLES, N_FEATURES, N_RESTARTS, N_RUNS = 128, 12, 2, 5


def make_data(seed):
    rng = np.random.default_rng(seed)
    X = rng.random((N_SAMPLES, N_FEATURES))
    y = np.sin(4 * X[:, 0]) + X[:, 1] ** 2 + X[:, 2] * X[:, 3]
    return X, y + 0.05 * rng.normal(size=N_SAMPLES)


def ours(X, y):
    model = GaussianProcess(priors=False, n_restarts=N_RESTARTS)
    return model.fit(X, y, np.random.default_rng(0)).log_marginal_likelihood_


def theirs(X, y):
    kernel = ConstantKernel(1.0, (1e-2, 1e3)) * Matern(np.ones(N_FEATURES), (1e-2, 1e2), nu=2.5)
    model = GaussianProcessRegressor(
        kernel + WhiteKernel(1e-2, (1e-8, 1.0)),
        alpha=0.0,
        normalize_y=True,
        n_restarts_optimizer=N_RESTARTS,
        random_state=0,
    )
    return model.fit(X, y).log_marginal_likelihood_value_


def timed(function, *arguments):
    begin = time.perf_counter()
    value = function(*arguments)
    return time.perf_counter() - begin, value


def main():
    warnings.simplefilter("ignore", ConvergenceWarning)
    ours(*make_data(0)), theirs(*make_data(0))  # what is imported or allocated once
    print(f"{N_SAMPLES} points, {N_FEATURES} features, {N_RESTARTS} restarts")
    print("   ours  theirs  ratio   log likelihood: ours, theirs")
    ratios = []
    for seed in range(N_RUNS):
        X, y = make_data(seed)
        seconds, likelihood = timed(ours, X, y)
        their_seconds, their_likelihood = timed(theirs, X, y)
        ratios.append(seconds / their_seconds)
        print(
            f"{seconds:7.3f} {their_seconds:7.3f} {ratios[-1]:6.2f}"
            f"   {likelihood:12.4f} {their_likelihood:12.4f}"
        )
    print(f"median ratio {np.median(ratios):.2f}")


if __name__ == "__main__":
    main()
