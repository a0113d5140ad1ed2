import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

from skauto.surrogates import GaussianProcess
from tests.surrogates.observed import make_data


def sklearn_twin(hyperparameters, nu, n_features):
    """scikit-learn's model, with the noise apart from the kernel so that its std has none."""
    amplitude, *scales, noise = np.exp(hyperparameters)
    kernel = ConstantKernel(amplitude) * Matern(scales, nu=nu)
    return GaussianProcessRegressor(kernel, alpha=noise, optimizer=None, normalize_y=True)


@pytest.mark.parametrize("nu", [1.5, 2.5])
@pytest.mark.parametrize("noise", [1e-6, 1e-2])
def test_agrees_with_sklearn_at_equal_hyperparameters(nu, noise):
    X, y, rng = make_data()
    hyperparameters = np.log([1.7, *rng.uniform(0.2, 3.0, size=5), noise])
    new = rng.uniform(-0.2, 1.2, size=(200, 5))
    twin = sklearn_twin(hyperparameters, nu, 5).fit(X, y)
    ours = GaussianProcess(nu=nu).condition(X, y, hyperparameters)

    mean, std = ours.predict(new)
    expected_mean, expected_std = twin.predict(new, return_std=True)
    np.testing.assert_allclose(mean, expected_mean, rtol=0, atol=1e-6)
    np.testing.assert_allclose(std, expected_std, rtol=0, atol=1e-6)
    assert ours.log_marginal_likelihood_ == pytest.approx(
        twin.log_marginal_likelihood_value_, abs=1e-6
    )


@pytest.mark.parametrize("nu", [1.5, 2.5])
def test_likelihood_gradient_agrees_with_sklearn(nu):
    X, y, rng = make_data()
    hyperparameters = np.log([0.6, *rng.uniform(0.2, 3.0, size=5), 1e-2])
    kernel = ConstantKernel() * Matern(np.ones(5), nu=nu) + WhiteKernel()
    twin = GaussianProcessRegressor(kernel, alpha=0.0, optimizer=None, normalize_y=True).fit(X, y)
    expected, expected_gradient = twin.log_marginal_likelihood(hyperparameters, eval_gradient=True)

    targets = (y - y.mean()) / y.std()
    value, gradient = GaussianProcess(nu=nu)._likelihood(hyperparameters, X, targets)
    assert value == pytest.approx(-expected, abs=1e-6)
    np.testing.assert_allclose(gradient, -expected_gradient, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("nu", [1.5, 2.5])
@pytest.mark.parametrize("trend", ["mean", "constant"])
@pytest.mark.parametrize("priors", [False, True])
def test_objective_gradient_equals_finite_differences(nu, trend, priors):
    X, y, rng = make_data(n_samples=20, n_features=3)
    model = GaussianProcess(nu=nu, trend=trend, priors=priors)
    theta = np.log([0.6, 0.4, 1.1, 2.0, 1e-2])
    targets = (y - y.mean()) / y.std()

    _, gradient = model._objective(theta, X, targets)
    numeric = approx_fprime(theta, lambda t: model._objective(t, X, targets)[0], 1e-6)
    np.testing.assert_allclose(gradient, numeric, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("nu", [1.5, 2.5])
@pytest.mark.parametrize("trend", ["mean", "constant"])
def test_prediction_gradient_equals_finite_differences(nu, trend):
    X, y, rng = make_data(n_samples=25, n_features=4)
    model = GaussianProcess(nu=nu, trend=trend).fit(X, y, rng)
    for x in rng.uniform(size=(5, 4)):
        mean, std, mean_gradient, std_gradient = model.predict_with_gradient(x)
        means, stds = model.predict(x[None])
        assert mean == pytest.approx(means[0], abs=1e-9)
        assert std == pytest.approx(stds[0], rel=1e-6)
        numeric_mean = approx_fprime(x, lambda p: model.predict(p[None])[0][0], 1e-6)
        numeric_std = approx_fprime(x, lambda p: model.predict(p[None])[1][0], 1e-6)
        np.testing.assert_allclose(mean_gradient, numeric_mean, rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(std_gradient, numeric_std, rtol=1e-3, atol=1e-4)


def test_constant_trend_equals_generalized_least_squares():
    X, y, rng = make_data(n_samples=15, n_features=2)
    hyperparameters = np.log([1.2, 0.5, 0.7, 1e-3])
    new = rng.uniform(size=(10, 2))
    amplitude, *scales, noise = np.exp(hyperparameters)
    kernel = ConstantKernel(amplitude) * Matern(scales, nu=1.5)
    inverse = np.linalg.inv(kernel(X) + noise * np.eye(15))
    ones, cross = np.ones(15), kernel(new, X)
    targets = (y - y.mean()) / y.std()
    level = ones @ inverse @ targets / (ones @ inverse @ ones)
    miss = 1 - cross @ inverse @ ones
    variance = (
        amplitude
        - np.einsum("ij,jk,ik->i", cross, inverse, cross)
        + miss**2 / (ones @ inverse @ ones)
    )

    model = GaussianProcess(nu=1.5, trend="constant").condition(X, y, hyperparameters)
    mean, std = model.predict(new)
    expected = y.mean() + y.std() * (level + cross @ inverse @ (targets - level))
    np.testing.assert_allclose(mean, expected, atol=1e-8)
    np.testing.assert_allclose(std, y.std() * np.sqrt(variance), atol=1e-8)


def test_fit_reaches_the_likelihood_of_sklearn():
    X, y, _ = make_data(n_samples=60, n_features=4)
    model = GaussianProcess(priors=False, n_restarts=4).fit(X, y, np.random.default_rng(0))
    kernel = ConstantKernel(1.0, (1e-2, 1e3)) * Matern(np.ones(4), (1e-2, 1e2), nu=2.5)
    twin = GaussianProcessRegressor(
        kernel + WhiteKernel(1e-2, (1e-8, 1.0)),
        alpha=0.0,
        normalize_y=True,
        n_restarts_optimizer=4,
        random_state=0,
    ).fit(X, y)
    assert model.log_marginal_likelihood_ >= twin.log_marginal_likelihood_value_ - 1e-3


def test_long_length_scale_for_an_idle_feature():
    X, _, rng = make_data(n_samples=60, n_features=2)
    model = GaussianProcess().fit(X, np.sin(6 * X[:, 0]), rng)
    _, active, idle, _ = np.exp(model.hyperparameters_)
    assert idle > 5 * active


def test_warm_start_begins_where_the_last_fit_ended():
    X, y, rng = make_data()
    model = GaussianProcess(warm_start=True, n_restarts=0).fit(X, y, rng)
    first = model.hyperparameters_
    np.testing.assert_array_equal(model._first_start(*model._log_bounds(5)), first)
    np.testing.assert_allclose(model.fit(X, y, rng).hyperparameters_, first, atol=1e-2)
    model.fit(X[:, :2], y, rng)
    assert model.hyperparameters_.shape == (4,)


def test_condition_keeps_the_hyperparameters():
    X, y, rng = make_data()
    model = GaussianProcess().fit(X, y, rng)
    hyperparameters, new = model.hyperparameters_, np.full((1, 5), 0.5)
    before = model.predict(new)[1]
    model.condition(np.vstack([X, new]), np.append(y, y.mean()))
    np.testing.assert_array_equal(model.hyperparameters_, hyperparameters)
    assert model.predict(new)[1] < before


def test_duplicates_without_noise_need_jitter():
    X, y, _ = make_data(n_samples=10, n_features=2)
    X, y = np.vstack([X] * 3), np.tile(y, 3)
    model = GaussianProcess().condition(X, y, np.log([1.0, 0.5, 0.5, 1e-300]))
    mean, std = model.predict(X)
    np.testing.assert_allclose(mean, y, atol=1e-3)
    assert np.isfinite(std).all()


@pytest.mark.parametrize("n_samples", [1, 2, 5])
def test_few_or_constant_observations(n_samples):
    X = np.random.default_rng(0).uniform(size=(n_samples, 3))
    model = GaussianProcess().fit(X, np.full(n_samples, 2.5), np.random.default_rng(1))
    mean, std = model.predict(np.zeros((4, 3)))
    np.testing.assert_allclose(mean, 2.5)
    assert (std > 0).all()


def test_same_rng_same_fit():
    X, y, _ = make_data()
    one = GaussianProcess().fit(X, y, np.random.default_rng(3))
    two = clone(one).fit(X, y, np.random.default_rng(3))
    np.testing.assert_array_equal(one.hyperparameters_, two.hyperparameters_)


@pytest.mark.parametrize(
    ("options", "X", "y", "message"),
    [
        ({"nu": 2.0}, np.zeros((2, 1)), np.zeros(2), "'nu' must be one of"),
        ({"trend": "linear"}, np.zeros((2, 1)), np.zeros(2), "'trend' must be"),
        ({}, np.zeros(2), np.zeros(2), "Expected 2D array"),
        ({}, np.zeros((2, 1)), np.array([0.0, np.nan]), "y contains NaN"),
    ],
)
def test_errors_say_what_is_allowed(options, X, y, message):
    with pytest.raises(ValueError, match=message):
        GaussianProcess(**options).fit(X, y, np.random.default_rng(0))


def test_update_fits_anew_only_after_growth():
    X, y, rng = make_data(n_samples=44)
    model = GaussianProcess().update(X[:40], y[:40], rng)
    first = model.hyperparameters_
    model.update(X[:43], y[:43], rng)
    np.testing.assert_array_equal(model.hyperparameters_, first)
    expected = clone(model).condition(X[:43], y[:43], first).predict(X)
    np.testing.assert_array_equal(model.predict(X), expected)
    assert not np.array_equal(model.update(X, y, rng).hyperparameters_, first)
    always = GaussianProcess(refit_growth=0.0).update(X[:40], y[:40], rng)
    assert not np.array_equal(always.update(X[:41], y[:41], rng).hyperparameters_, first)
