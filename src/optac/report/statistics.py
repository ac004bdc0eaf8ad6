"""Statistics of a handful of seeds: mean ± std as papers print it, and robust figures with bootstrap intervals.

The estimators are those of Agarwal et al., "Deep Reinforcement Learning at the Edge of the Statistical Precipice"
(arXiv:2108.13264): interquartile mean, probability of improvement, performance profile. Intervals resample the seeds
of each task apart ("stratified"), never whole rows of a table, and come from a fixed seed. Every sample is sorted
before it is resampled, so that the order of the seeds changes nothing, not even the last digit. Fewer than
`SEEDS_NEEDED` seeds give no interval: None.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from jaxtyping import Float

RESAMPLES = 20_000
CONFIDENCE = 0.95
SEEDS_NEEDED = 3
_SEED = 0

Sample = Sequence[float]
Samples = Sequence[Sample]
Values = Float[np.ndarray, "..."]


@dataclass(frozen=True)
class Summary:
    """Mean and standard deviation (ddof 1) over seeds, as the paper prints them; None: of one seed, or not known."""

    mean: float
    std: float | None
    seeds: int


@dataclass(frozen=True)
class Interval:
    """An estimate and the ends of its 95 % interval."""

    estimate: float
    low: float
    high: float


@dataclass(frozen=True)
class Band:
    """An estimate with pointwise 95 % intervals along an axis; no ends where the seeds are too few."""

    at: tuple[float, ...]
    estimate: tuple[float, ...]
    low: tuple[float, ...] | None
    high: tuple[float, ...] | None


@dataclass(frozen=True)
class Difference:
    """Mean of a minus mean of b with Welch's 95 % interval, and whether that interval leaves zero out."""

    mean: float
    interval: Interval | None

    @property
    def verdict(self) -> Literal["higher", "lower", "cannot tell"]:
        """Whether a is above b as far as the seeds can tell."""
        if self.interval is None or self.interval.low <= 0 <= self.interval.high:
            return "cannot tell"
        return "higher" if self.interval.low > 0 else "lower"


def summary(values: Sample) -> Summary:
    """Mean ± std over seeds."""
    array = np.sort(np.asarray(values, dtype=float))
    std = float(np.std(array, ddof=1)) if len(array) > 1 else None
    return Summary(float(np.mean(array)), std, len(array))


def iqm_interval(samples: Samples, *, resamples: int = RESAMPLES) -> Interval | None:
    """The interquartile mean over tasks with its 95 % interval; one sample per task, one score per seed."""
    return _interval(interquartile_mean, samples, resamples)


def mean_interval(sample: Sample, *, resamples: int = RESAMPLES) -> Interval | None:
    """The mean over the seeds of one task with its 95 % interval."""
    return _interval(lambda values, axis=-1: np.mean(values, axis=axis), [sample], resamples)


def probability_of_improvement(a: Samples, b: Samples) -> float:
    """P(X > Y) + ½ P(X = Y) for a run X of a and a run Y of b on the same task, averaged over tasks."""
    pairs = [np.asarray(sample, dtype=float) for both in zip(a, b, strict=True) for sample in both]
    return float(_improvement(*pairs))


def improvement_interval(a: Samples, b: Samples, *, resamples: int = RESAMPLES) -> Interval | None:
    """The probability of improvement of a over b with its 95 % interval, both resampled task by task."""
    pairs = [sample for both in zip(a, b, strict=True) for sample in both]
    return _interval(_improvement, pairs, resamples)


def performance_profile(samples: Samples, thresholds: Sequence[float], *, resamples: int = RESAMPLES) -> Band:
    """The share of runs that score more than τ, averaged over tasks, at every threshold τ."""
    marks = np.asarray(thresholds, dtype=float)

    def shares(*tasks: Values, axis: int = -1) -> Any:
        above = [np.mean(task[None] > marks.reshape(-1, *[1] * task.ndim), axis=-1) for task in tasks]
        return np.mean(above, axis=0)

    ordered = [np.sort(np.asarray(sample, dtype=float)) for sample in samples]
    estimate = tuple(map(float, shares(*ordered)))
    at = tuple(map(float, marks))
    if _too_few(ordered):
        return Band(at, estimate, None, None)
    low, high = bootstrap_ends(shares, ordered, resamples)
    return Band(at, estimate, tuple(map(float, low)), tuple(map(float, high)))


def learning_curve(curves: Sequence[Mapping[int, float]], *, resamples: int = RESAMPLES) -> Band:
    """The mean over seeds at every step that all of them evaluated, with intervals of that mean.

    A curve maps a step to a return. The mean, not the interquartile mean, so that a curve ends where the table's
    cell stands.
    """
    shared = sorted(set.intersection(*(set(curve) for curve in curves))) if curves else []
    columns = [[curve[step] for curve in curves] for step in shared]
    means = tuple(summary(column).mean for column in columns)
    at = tuple(map(float, shared))
    if len(curves) < SEEDS_NEEDED or not shared:
        return Band(at, means, None, None)
    found = [mean_interval(column, resamples=resamples) for column in columns]
    ends = [interval for interval in found if interval is not None]
    return Band(at, means, tuple(end.low for end in ends), tuple(end.high for end in ends))


def difference(a: Summary, b: Summary) -> Difference:
    """Mean of a minus mean of b with Welch's interval, from means and standard deviations alone.

    This is how our seeds are held against a printed mean ± std. Without SEEDS_NEEDED seeds on both sides, or where
    a side's spread is not known, or none of them has any, nothing is told. One side may be constant: the interval
    is then the other's, a t interval with its degrees of freedom.
    """
    from scipy import stats

    gap = a.mean - b.mean
    if min(a.seeds, b.seeds) < SEEDS_NEEDED or a.std is None or b.std is None or a.std == b.std == 0:
        return Difference(gap, None)
    first, second = a.std**2 / a.seeds, b.std**2 / b.seeds
    freedom = (first + second) ** 2 / (first**2 / (a.seeds - 1) + second**2 / (b.seeds - 1))
    reach = float(stats.t.ppf((1 + CONFIDENCE) / 2, freedom)) * (first + second) ** 0.5
    return Difference(gap, Interval(gap, gap - reach, gap + reach))


def interquartile_mean(*tasks: Values, axis: int = -1) -> Any:
    """The mean of the middle half of all scores: a quarter, rounded down, is cut from either end."""
    scores = np.sort(np.concatenate(tasks, axis=axis), axis=axis)
    count = scores.shape[axis]
    return np.mean(np.take(scores, np.arange(count // 4, count - count // 4), axis=axis), axis=axis)


def _improvement(*pairs: Values, axis: int = -1) -> Any:
    """a's and b's samples in turn, task by task."""
    shares = []
    for a, b in zip(pairs[::2], pairs[1::2], strict=True):
        ahead = a[..., :, None] - b[..., None, :]
        shares.append(np.mean((ahead > 0) + 0.5 * (ahead == 0), axis=(-2, -1)))
    return np.mean(shares, axis=0)


def _interval(statistic: Callable[..., Any], samples: Samples, resamples: int) -> Interval | None:
    ordered = [np.sort(np.asarray(sample, dtype=float)) for sample in samples]
    if _too_few(ordered):
        return None
    low, high = bootstrap_ends(statistic, ordered, resamples)
    return Interval(float(statistic(*ordered)), float(low), float(high))


def bootstrap_ends(
    statistic: Callable[..., Any],
    samples: Sequence[np.ndarray],
    resamples: int = RESAMPLES,
    *,
    method: Literal["linear", "inverted_cdf"] = "linear",
) -> Any:
    """The ends of the percentile interval of a statistic by scipy's bootstrap, each sample resampled by itself.

    The strata are the samples. Resamples for which the statistic is not a number are left out.
    """
    from scipy import stats

    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", stats.DegenerateDataWarning
        )  # of scipy's own ends, which are not used
        found = stats.bootstrap(
            tuple(samples),
            statistic,
            n_resamples=resamples,
            method="percentile",
            vectorized=True,
            batch=2_000,
            rng=np.random.default_rng(_SEED),
        ).bootstrap_distribution
    return np.nanquantile(found, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], axis=-1, method=method)


def _too_few(samples: Sequence[Values]) -> bool:
    return not samples or min(len(sample) for sample in samples) < SEEDS_NEEDED


def log_slope(x: Any, y: Any) -> Any:
    """The least-squares slope of log y against log x, over y's last axis."""
    centred = np.log(x) - np.mean(np.log(x))
    return np.log(y) @ centred / (centred @ centred)


def lower_median(values: Any, axis: int = -1) -> Any:
    """The median that is one of the values, the lower of two middle ones: infinite where most are censored."""
    return np.quantile(values, 0.5, axis=axis, method="inverted_cdf")


def slope_interval(x: Sequence[float | int], runs: Float[np.ndarray, "point run"]) -> Interval | None:
    """The log-log slope of the medians over runs, with its interval over the runs of each point.

    Censored runs are infinite; where a median is, or is not above 0, there is no slope: None. Resamples without one
    are left out.
    """

    def slope(*points: Values, axis: int = -1) -> Any:
        medians = np.stack([lower_median(point) for point in points], axis=-1)
        sound = np.isfinite(medians) & (medians > 0)
        return log_slope(x, np.where(sound.all(axis=-1, keepdims=True), medians, np.nan))

    return _interval(slope, runs.tolist(), RESAMPLES) if has_slope(runs) else None


def has_slope(runs: Float[np.ndarray, "point run"]) -> bool:
    """Whether every point's median has a logarithm."""
    medians = lower_median(runs)
    return len(medians) > 1 and bool((np.isfinite(medians) & (medians > 0)).all())


def slope_text(x: Sequence[float | int], runs: Float[np.ndarray, "point run"]) -> str:
    """`1.20 [1.05, 1.37]`, a dash where there is none."""
    if not has_slope(runs):
        return "— (censored)"
    found = slope_interval(x, runs)
    ends = f"[{found.low:.2f}, {found.high:.2f}]" if found else f"(fewer than {SEEDS_NEEDED} seeds)"
    return f"{log_slope(x, lower_median(runs)):.2f} {ends}"
