"""`crff-rates` and `misspecified`: the isolated terms are what they claim, the reports say what the rows say."""

import numpy as np
import pytest

import optac
from optac.mdp.families.smooth_walk import RADIUS
from optac.mdp.noise import BumpNoise
from optac.models import FourierChoice
from optac.models.kernel_features import KernelFeatures
from optac.studies.crff_rates import STUDY as RATES
from optac.studies.crff_rates import cells as crff_rates
from optac.studies.crff_rates import report as rates_report
from optac.studies.misspecified import STUDY as MISSPECIFIED
from optac.studies.misspecified import cells as misspecified


@pytest.mark.parametrize(("dim", "smoothness"), [(1, 3), (2, 4)])
def test_truncation_falls_at_least_as_fast_as_the_bound(dim, smoothness, monkeypatch) -> None:
    monkeypatch.setattr(crff_rates, "RADII", crff_rates.RADII[::4])
    row = crff_rates.truncation(dim, smoothness)
    sizes, errors = np.array(row["sizes"]), np.array(row["errors"])
    fitted = sizes >= rates_report.FIRST_FITTED_RADIUS
    slope = np.polyfit(np.log(sizes[fitted]), np.log(errors[fitted]), 1)[0]
    assert slope <= dim - smoothness
    assert errors[-1] < 1e-4


@pytest.mark.parametrize("dim", [1, 2])
def test_lattice_of_frequencies_is_the_integral_over_the_ball(dim) -> None:
    """With exact coefficients it gives the truncated density: the edge of the ball costs at most 2 %."""
    smoothness, radius = crff_rates.FIXED[dim]
    noise = BumpNoise(dim, 1.0, smoothness)
    features = crff_rates.lattice_features(dim, radius)
    estimate = features.inner_products(features.phi_exact(noise.characteristic), crff_rates._points(dim))
    truncated = crff_rates.truncated_density(dim, smoothness, radius)
    assert np.abs(estimate - truncated).max() < 0.02 * noise.peak


def test_rates_report_recovers_a_slope_that_was_put_in(tmp_path) -> None:
    rows = [
        {"term": "samples", "dim": 1, "smoothness": 3, "seed": s, "sizes": [100, 1000, 10_000], "errors": e}
        for s, e in enumerate([[0.3, 0.3 / 10**0.5, 0.03]] * 3)
    ]
    text = RATES.write_report(rows, 3, tmp_path).read_text()
    assert "| samples, in N | 1 | 3 | 3 | -0.50 [-0.50, -0.50] | −0.5 |" in text
    assert (tmp_path / "rates.svg").exists()


FEATURES = {"frequencies": 8, "radius": 6.0, "next_samples": 8, "columns": 3, "effective_dimension": 4}
FEATURES |= {"feature_error": 0.05, "total_error": 0.3, "density_bound": 4.375, "time/seconds": 7.0}
RUN = {"dim": 1, "episodes": 1000, "range": 2.0, "horizon": 5, "actions": 4, **FEATURES}


def report_of(rows, path) -> str:
    return MISSPECIFIED.write_report(rows, len(rows), path).read_text()


def test_misspecified_report_gives_slopes_with_and_without_the_floor(tmp_path) -> None:
    """gap = 0.04 + 0.5 ζ: slope 1 and constant 0.5 over the floor, less without it; H² d̃^1.5 |A| = 25·8·4."""
    rows = [
        {"study": "misspecified", "zeta": z, "seed": s, "gap": 0.04 + 0.5 * z, "last_gap": 0.1 * z, **RUN}
        for s in (0, 1, 2)
        for z in (0.0, 0.1, 1.0)
    ]
    text = report_of(rows, tmp_path)
    plain = np.log10(0.54 / 0.09)
    expected = f"| {plain:.2f} [{plain:.2f}, {plain:.2f}] | 1.00 [1.00, 1.00] | 0.500 (0.500) |"
    assert f"| mixture, the theorem's policy {expected}" in text
    assert "| last policy | 1.00 [1.00, 1.00] | 1.00 [1.00, 1.00] | 0.100 (0.100) |" in text
    assert "| theorem, a bound | 1 | 1 | 800, logarithms left out |" in text
    assert "5² · 4^(3/2) · 4" in text and "it is 0.050, below the smallest ζ" in text
    assert "| 0.1 | 3 | 0.300 | 0.0900 | 0.0500 | 0.0100 | 0.0100 | 240 |" in text


def test_realised_report_counts_the_mixtures_within_five_percent(tmp_path) -> None:
    rows = [
        {"study": "realised", "zeta": 0.0, "seed": s, "gap": gap, "last_gap": 0.01, "mixture": first, **RUN}
        for s, (gap, first) in enumerate([(0.04, 400), (0.2, None), (0.06, 500)])
    ]
    text = report_of(rows, tmp_path)
    assert (
        "| 1 | 8 | 3 | 1,000 | 3.00% (10.00%) | 0.50% (0.50%) | 2 of 3 | 500 (not within the budget) | 7 |"
        in text
    )


def test_tied_report_marks_the_censored_and_fits_with_and_without_them(tmp_path) -> None:
    tied = {"study": "tied", "budget": 10_000, "last": 10, **FEATURES}
    rows = [
        {**tied, "epsilon": e, "seed": s, "mixture": round(100 / e)} for e in (0.4, 0.1) for s in range(3)
    ]
    rows += [
        {**tied, "epsilon": 0.8, "seed": s, "mixture": count} for s, count in enumerate((50, 4000, None))
    ]
    text = report_of(rows, tmp_path)
    assert "| 0.8 | 8 | 0.05 | 4 | 4,000 (50–>10,000) | 10 | 2 of 3 |" in text
    assert "to the 1.00 [1.00, 1.00] over the ε where every run arrived; with ε = 0.8" in text
    everywhere = np.polyfit(np.log([1.25, 2.5, 10]), np.log([4000, 250, 1000]), 1)[0]
    assert f"some were censored, to the {everywhere:.2f} [" in text
    assert (tmp_path / "misspecified.svg").exists()


def test_dimension_table_has_a_line_a_size(tmp_path) -> None:
    found = {"0.001": 3, "1e-06": 5}
    row = {"study": "dimension", "dim": 1, "frequencies": 16, "effective_dimensions": found}
    assert "| 1 | 16 | 32 | 3 | 5 |" in report_of([row], tmp_path)


def test_effective_dimension_stays_while_frequencies_grow() -> None:
    few, many = (misspecified.dimension(1, d)["effective_dimensions"]["0.001"] for d in (128, 512))
    assert few == many < 20


def test_error_of_the_features_and_of_the_class_add_up_to_the_theorems_zeta() -> None:
    """With features far better than ζ the total is ζ; with the class exact it is the features' own error."""
    sharp = FourierChoice(frequencies=8192, next_samples=0, tolerance=1e-4)
    away, inside = (optac.make_problem("smooth-walk", misspecification=z) for z in (1.0, 0.0))
    features = KernelFeatures(away.noise, away.grid, (RADIUS, 1 - RADIUS), sharp, 0)
    own = misspecified.feature_error(away, features)
    assert own < 0.2
    assert abs(misspecified.total_error(away, features) - 1.0) <= own
    assert misspecified.total_error(inside, features) == pytest.approx(own, rel=0.2)


def test_tied_run_says_when_it_arrived_to_the_iteration() -> None:
    row = misspecified.tied(0.4, 0)
    walk = optac.make_problem("smooth-walk")
    assert row["mixture"] % walk.horizon == 0 and row["frequencies"] == 50
    sizes = {name: row[name] for name in ("frequencies", "radius", "next_samples")}
    reached, before = (
        optac.solve(walk, episodes=row["mixture"] - less, seed=0, **sizes).gap for less in (0, walk.horizon)
    )
    assert reached <= 0.4 < before
