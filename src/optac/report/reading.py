"""The end of the page: what its words mean, of those that are on it."""

from optac.report.markup import Markup, element
from optac.report.statistics import RESAMPLES, SEEDS_NEEDED

TRAININGS = {
    "mean ± std": "over seeds, of each run’s last evaluation; the standard deviation divides by n − 1.",
    "IQM": "the interquartile mean: a quarter of the scores (rounded down) is cut from either end, the rest averaged.",
    "P(improvement)": "the chance that a run of one agent scores above a run of the other on the same task; ties count "
    "half.",
    "can tell": "Welch’s 95 % interval of the difference of two means leaves zero out. One test a cell, not corrected "
    "for their number.",
    "profile": "for every threshold τ, the share of runs that score above it; higher is better everywhere.",
}
SOLVES = {
    "gap": "V* minus the value of a policy, exact, in the problem’s own unit of rewards in [0, 1].",
    "last policy, mixture": "the policy of the last iteration; the mixture of the policies played, of which the "
    "theorems speak.",
    "oracle bill": "how many calls of each oracle a provable algorithm paid for.",
}
INTERVALS = {
    "[95 %], band": f"a percentile bootstrap interval: {RESAMPLES:,} resamples of the seeds, each task by itself, from "
    "a fixed seed. With 3 to 5 seeds such an interval is too narrow more often than its name says: there is at least "
    "this much doubt.",
    f"fewer than {SEEDS_NEEDED} seeds": "no interval is given and nothing is told apart.",
}
SEARCHES = {
    "trial": "one choice of settings; its return is the mean over its seeds.",
    "pruned": "stopped at an evaluation where its best so far was below the median of the trials before it.",
    "importance": "the share of a setting in the spread of the finished trials’ scores.",
}


def reading_section(*, trainings: bool, solves: bool, searches: bool) -> Markup:
    """The words of the sections that the page has."""
    words = {
        **(TRAININGS if trainings else {}),
        **(SOLVES if solves else {}),
        **(INTERVALS if trainings or solves else {}),
        **(SEARCHES if searches else {}),
    }
    terms = [part for word, text in words.items() for part in (element("dt", word), element("dd", text))]
    return element("dl", *terms)
