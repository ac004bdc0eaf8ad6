"""`crff-rates` and `misspecified`: the isolated terms are what they claim, the reports say what the rows say."""

import numpy as np
import pytest

from optac.experiments import crff_rates, misspecified
from optac.mdp.noise import BumpNoise
from optac.reports import crff_rates as rates_report
from optac.reports import misspecified as misspecified_report


@pytest.mark.parametrize(("dim", "smoothness"), [(1, 3), (2, 4)])
def test_truncation_falls_at_least_as_fast_as_the_bound(dim, smoothness) -> None:
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
        for s, e in enumerate([[0.3, 0.3 / 10**0.5, 0.03]] * 2)
    ]
    text = rates_report.write_report(rows, 2, tmp_path).read_text()
    assert "| samples, in N | 1 | 3 | 2 | -0.50 [-0.50, -0.50] | −0.5 |" in text
    assert (tmp_path / "rates.svg").exists()


def test_misspecified_report_recovers_what_was_put_in(tmp_path) -> None:
    common = {"dim": 1, "episodes": 1000, "range": 2.0, "effective_dimension": 4, "horizon": 5, "actions": 4}
    rows = [
        {"study": "learnt", "zeta": z, "seed": s, "gap": 0.04 + z, "last_gap": 0.1 * z, **common}
        for s in (0, 1)
        for z in (0.0, 0.1, 1.0)
    ]
    tied = {"frequencies": 8, "zeta": 0.5, "effective_dimension": 4, "study": "tied"}
    rows += [{**tied, "epsilon": e, "seed": 0, "episodes": round(100 / e)} for e in (0.4, 0.1)]
    found = {"0.001": 3, "1e-06": 5}
    rows.append({"study": "dimension", "dim": 1, "frequencies": 16, "effective_dimensions": found})
    text = misspecified_report.write_report(rows, len(rows), tmp_path).read_text()
    assert "| 1 | 2 | 1,000 | 2.00% (2.00%) | 0.00% (0.00%) | 2 of 2 |" in text
    assert "grows as ζ to the 1.00 [1.00, 1.00]" in text and "gap/ζ is 0.100" in text
    assert "the theorem's, without its logarithms, is 800" in text
    assert "grow as 1/ε to the 1.00" in text and "| 1 | 16 | 32 | 3 | 5 |" in text


def test_effective_dimension_stays_while_frequencies_grow() -> None:
    few, many = (misspecified.dimension(1, d)["effective_dimensions"]["0.001"] for d in (128, 512))
    assert few == many < 20
