"""Conditional random Fourier features: conventions by hand, recovery on known densities, checks of input."""

import json
import subprocess
import sys
from math import erf, pi, sqrt

import numpy as np
import pytest

import optac
from optac.errors import InvalidInput
from optac.models import effective_dimension, propose_fourier_size
from optac.models import fourier as fourier_module
from optac.models.fourier import FourierVolumeWarning, ball_volume


def features(state_dim=1, frequencies=512, radius=4.0, seed=0):
    return optac.ConditionalFourierFeatures(state_dim, frequencies, radius, seed)


def gaussian_characteristic(mean, deviation):
    """t ↦ E[exp(i tᵀs')] of N(mean, deviation² I)."""
    return lambda t: np.exp(1j * t @ np.atleast_1d(mean) - 0.5 * deviation**2 * (t**2).sum(axis=-1))


def test_target_feature_is_cosine_and_minus_sine_over_root_d():
    f = features(frequencies=2)
    state = 0.3
    angles = 2 * pi * f.w[:, 0] * state
    expected = [np.cos(angles[0]), -np.sin(angles[0]), np.cos(angles[1]), -np.sin(angles[1])]
    np.testing.assert_allclose(f.mu(np.array([[state]]))[0], np.array(expected) / sqrt(2), rtol=1e-14)


def test_context_feature_is_the_conjugated_mean_phase_times_volume_over_root_d():
    f = features(frequencies=3, radius=2.0)
    samples = np.array([[0.1], [-0.4]])
    g = np.exp(-2j * pi * samples * f.w[:, 0]).mean(axis=0)
    expected = np.stack([g.real, g.imag], axis=-1).ravel() * 4.0 / sqrt(3)
    np.testing.assert_allclose(f.phi(samples), expected, rtol=1e-13)


def test_one_sample_gives_the_mean_cosine_of_the_distance():
    """φ̂ᵀμ = (Vol/d) Σ cos 2πw(s' − y): a dropped 1/√d scales it by √d, a dropped minus gives s' + y."""
    f = features(frequencies=50)
    y, state = 0.7, -0.25
    expected = f.volume * np.cos(2 * pi * f.w[:, 0] * (state - y)).mean()
    assert f.density(np.array([[y]]), np.array([[state]]))[0] == pytest.approx(expected, rel=1e-12)


def test_gaussian_density_has_its_closed_form_in_the_limit_of_many_frequencies():
    """At s' = m the truncated integral is erf(√2·π·W·σ)/(σ√(2π)); a dense frequency grid reaches it."""
    deviation, mean, f = 0.3, 0.2, features(frequencies=20_001, radius=1.0)
    f.w = np.linspace(-1.0, 1.0, 20_001)[:, None]
    phi = f.phi_exact(gaussian_characteristic(mean, deviation))
    expected = erf(sqrt(2) * pi * deviation) / (deviation * sqrt(2 * pi))
    assert f.inner_products(phi, np.array([[mean]]))[0] == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize(("dim", "count", "error"), [(1, 8000, 0.12), (2, 8000, 0.3)])
def test_gaussian_density_is_recovered_off_centre(dim, count, error):
    """The mean is not 0, so an estimate of the mirrored density fails."""
    mean, deviation = np.full(dim, 0.4), 0.3
    rng = np.random.default_rng(1)
    f = features(dim, frequencies=2048, radius=2.0)
    states = rng.uniform(-0.5, 1.2, (40, dim))
    estimate = f.density(rng.normal(mean, deviation, (count, dim)), states)
    distance = ((states - mean) ** 2).sum(axis=-1)
    truth = np.exp(-distance / (2 * deviation**2)) / (2 * pi * deviation**2) ** (dim / 2)
    assert np.abs(estimate - truth).max() < error


def test_sampled_coefficients_approach_the_exact_ones():
    f = features(frequencies=64)
    rng = np.random.default_rng(3)
    exact = f.phi_exact(gaussian_characteristic(0.1, 0.2))
    sampled = f.phi(rng.normal(0.1, 0.2, (40_000, 1)))
    assert np.abs(sampled - exact).max() < 4 * f.volume / sqrt(64) / sqrt(40_000)


def test_translated_features_are_those_of_the_moved_samples():
    f = features(2, frequencies=30, radius=1.5)
    noise = np.random.default_rng(4).normal(size=(20, 2))
    offsets = np.array([[0.3, -0.2], [1.0, 0.5]])
    moved = f.phi(offsets[:, None] + noise)
    np.testing.assert_allclose(f.translated(f.phi(noise), offsets), moved, atol=1e-13)


def test_same_seed_same_bits_and_other_seed_other_frequencies():
    assert (features(3).w == features(3).w).all()
    assert (features(3, seed=1).w != features(3).w).any()


def test_frequencies_of_a_smaller_d_are_the_first_of_a_larger():
    np.testing.assert_array_equal(features(2, frequencies=10).w, features(2, frequencies=100).w[:10])


def test_bits_of_a_row_depend_neither_on_batch_order_nor_on_blocks(monkeypatch):
    f = features(2, frequencies=40)
    samples = np.random.default_rng(5).normal(size=(6, 50, 2))
    order = np.array([3, 0, 5, 1, 4, 2])
    together = f.phi(samples)
    np.testing.assert_array_equal(f.phi(samples[order]), together[order])
    np.testing.assert_array_equal(f.phi(samples[2]), together[2])
    monkeypatch.setattr(fourier_module, "BLOCK", 200)
    np.testing.assert_allclose(f.phi(samples), together, rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(f.phi(samples[order]), f.phi(samples)[order])


def test_frequencies_are_uniform_in_the_ball():
    """In R² a quarter of the mass lies within half the radius, and no direction is preferred."""
    w = features(2, frequencies=40_000, radius=3.0).w
    norms = np.linalg.norm(w, axis=1)
    assert norms.max() <= 3.0
    assert (norms < 1.5).mean() == pytest.approx(0.25, abs=0.01)
    assert np.abs(w.mean(axis=0)).max() < 0.03


@pytest.mark.parametrize(("dim", "volume"), [(1, 4.0), (2, 4 * pi), (3, 32 * pi / 3), (6, 64 * pi**3 / 6)])
def test_ball_volume(dim, volume):
    assert ball_volume(dim, 2.0) == pytest.approx(volume, rel=1e-14)


def test_many_dimensions_warn_with_the_volume():
    with pytest.warns(FourierVolumeWarning, match=r"Vol\(B_W\) = 330\.7 in R\^6"):
        features(6, frequencies=4, radius=2.0)


def test_effective_dimension_counts_the_independent_distributions():
    f = features(frequencies=200)
    means = np.array([0.0, 0.3, 0.6])
    three = np.stack([f.phi_exact(gaussian_characteristic(m, 0.2)) for m in means])
    mixed = np.concatenate([three, three[:1] / 2 + three[1:2] / 2])
    assert effective_dimension(mixed) == 3


ODD_CALLS = {
    "state_dim=0": "F(0, 8, 1.0)",
    "state_dim=a": "F('a', 8, 1.0)",
    "state_dim=1.5": "F(1.5, 8, 1.0)",
    "state_dim=True": "F(True, 8, 1.0)",
    "state_dim=None": "F(None, 8, 1.0)",
    "frequencies=0": "F(1, 0, 1.0)",
    "frequencies=nan": "F(1, nan, 1.0)",
    "frequencies=inf": "F(1, inf, 1.0)",
    "frequencies=x": "F(1, 'x', 1.0)",
    "radius=0": "F(1, 8, 0)",
    "radius=-1": "F(1, 8, -1)",
    "radius=nan": "F(1, 8, nan)",
    "radius=inf": "F(1, 8, inf)",
    "radius=x": "F(1, 8, 'x')",
    "radius=None": "F(1, 8, None)",
    "seed=None": "F(1, 8, 1.0, seed=None)",
    "seed=-1": "F(1, 8, 1.0, seed=-1)",
    "no volume": "F(2, 8, 1e200)",
    "2d = 16": "F(1, 8, 1.0).inner_products(np.zeros(15), np.zeros((3, 1)))",
    "2d = 16, the": "F(1, 8, 1.0).translated(np.zeros(14), np.zeros((3, 1)))",
    "the one feature": "F(1, 8, 1.0).translated(np.zeros((2, 16)), np.zeros((3, 1)))",
    "phi holds": "F(1, 8, 1.0).inner_products(np.full(16, nan), np.zeros((3, 1)))",
    "differ in length": "F(1, 8, 1.0).mu([[1.0], [1.0, 2.0]])",
    "dtype": "F(1, 8, 1.0).mu([['a']])",
    "characteristic": "F(1, 8, 1.0).phi_exact(lambda t: np.full(8, nan))",
    "must be a function": "F(1, 8, 1.0).phi_exact(3)",
    "(0, 16)": "effective_dimension(np.zeros((0, 16)))",
    "got ()": "effective_dimension(1.0)",
    "tolerance=nan": "effective_dimension(np.ones((2, 4)), nan)",
    "tolerance=2": "effective_dimension(np.ones((2, 4)), 2)",
    "zeta=nan": "propose_fourier_size(nan, **sizes)",
    "zeta=x": "propose_fourier_size('x', **sizes)",
    "delta=1": "propose_fourier_size(0.1, **sizes, delta=1)",
    "unknown bound 'sure'": "propose_fourier_size(0.1, **sizes, bound='sure')",
    "smoothness=2.5": "propose_fourier_size(0.1, **{**sizes, 'smoothness': 2.5})",
    "next_samples=-1": "FourierChoice(next_samples=-1)",
    "radius=nan is": "FourierChoice(radius=nan)",
    "frequencies=0 is": "optac.solve(optac.make_problem('smooth-walk'), iterations=1, frequencies=0)",
    "tolerance=0": "optac.solve(optac.make_problem('smooth-walk'), iterations=1, tolerance=0)",
    "candidates=x": "optac.solve(optac.make_problem('smooth-walk'), iterations=1, candidates='x')",
    "misspecification=nan": "optac.make_problem('smooth-walk', misspecification=nan)",
    "misspecification=x": "optac.make_problem('smooth-walk', misspecification='x')",
    "misspecification=-1": "optac.make_problem('smooth-walk', misspecification=-1)",
    "misspecification=inf": "optac.make_problem('smooth-walk', misspecification=inf)",
    "dim=1.5": "optac.make_problem('smooth-walk', dim=1.5)",
    "horizon=nan": "optac.make_problem('smooth-walk', horizon=nan)",
}
"""what the message must say → the call"""

SCRIPT = """
import json, sys
from math import inf, nan
import numpy as np
import optac
from optac import ConditionalFourierFeatures as F
from optac.errors import InvalidInput
from optac.models import FourierChoice, effective_dimension, propose_fourier_size

sizes = {"state_dim": 1, "smoothness": 3, "derivative_norm": 10.0, "density_bound": 1.0}
said = {}
for message, call in json.load(sys.stdin).items():
    try:
        said[message] = f"nothing was raised: {eval(call)}"
    except InvalidInput as refusal:
        said[message] = f"InvalidInput: {refusal}"
    except Exception as error:
        said[message] = f"{type(error).__name__}: {error}"
print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def answers() -> dict[str, str]:
    """As a user meets them: the checks of types that these tests run under would answer first."""
    command = [sys.executable, "-c", SCRIPT]
    run = subprocess.run(command, input=json.dumps(ODD_CALLS), capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


@pytest.mark.parametrize("message", ODD_CALLS)
def test_odd_arguments_are_refused_with_what_is_allowed(answers, message) -> None:
    assert answers[message].startswith("InvalidInput: ") and message in answers[message]


def test_bad_arrays_are_refused():
    f = features(2, frequencies=8)
    with pytest.raises(InvalidInput, match=r"\(M, D\) with D = 2; got \(3, 1\)"):
        f.mu(np.zeros((3, 1)))
    with pytest.raises(InvalidInput, match="not finite"):
        f.phi(np.array([[0.0, np.nan]]))
    with pytest.raises(InvalidInput, match="dtype complex128"):
        f.phi(np.zeros((4, 2), dtype=complex))
    with pytest.raises(InvalidInput, match="N = 0"):
        f.phi(np.zeros((4, 0, 2)))


def test_integer_and_single_precision_states_become_double():
    f = features(frequencies=8)
    assert f.mu(np.array([[1]])).dtype == f.phi(np.zeros((2, 1), dtype=np.float32)).dtype == np.float64


def test_proposed_size_meets_its_target_on_a_known_density():
    """The typical size for ζ = 0.5 on c(1 − y²)³: the measured error is below it, the proved size far above."""
    constants = {"state_dim": 1, "smoothness": 3, "derivative_norm": 80.0, "density_bound": 1.1}
    size = propose_fourier_size(0.5, points=1e3, **constants)
    proved = propose_fourier_size(0.5, points=1e3, bound="proved", **constants)
    assert size.radius == proved.radius and proved.frequencies > 2 * size.frequencies
    rng = np.random.default_rng(0)
    samples = 2 * rng.beta(4, 4, size.samples)[:, None] - 1
    states = np.linspace(-1, 1, 101)[:, None]
    estimate = size.features().density(samples, states)
    assert np.abs(estimate - 35 / 32 * (1 - states[:, 0] ** 2) ** 3).max() < 0.5


def test_proposed_size_grows_as_the_theorem_says():
    """Truncation: W ∝ ζ^{−1/(m−D)}; proved: d ∝ (Vol/ζ)², so halving ζ in D = 1, m = 3 gives d · 2^{2+1}."""
    constants = {"state_dim": 1, "smoothness": 3, "derivative_norm": 1e6, "density_bound": 2.0}
    size, half = (propose_fourier_size(z, bound="proved", **constants) for z in (0.2, 0.1))
    assert half.radius / size.radius == pytest.approx(sqrt(2), rel=1e-12)
    assert half.frequencies / size.frequencies == pytest.approx(8, rel=1e-6)
    assert half.feature_bytes == 16 * half.frequencies and "phases" in str(half)


def test_size_needs_a_smooth_density():
    with pytest.raises(InvalidInput, match="m > D = 2"):
        propose_fourier_size(0.1, state_dim=2, smoothness=2, derivative_norm=1.0, density_bound=1.0)
