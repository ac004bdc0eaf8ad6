"""Tuning: a search over an agent's settings, in rounds, each round a sweep.

The trials of a round are chosen by Optuna's TPE sampler from what the rounds before came to, and written to `tune.json`
before they are run. A trial is pruned at an evaluation where its best so far is below the median of what the trials of
earlier rounds had as theirs at that step: these bars are part of the run's own config.json, so that no worker asks
another. So the same file gives the same trials, however many run at once and wherever it was killed and continued.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import accumulate
from pathlib import Path
from statistics import fmean, median
from typing import Any, Final, Literal

from optac.errors import InvalidInput, RunFailed, require_extra
from optac.plain_files import is_there
from optac.provenance import all_versions
from optac.runs.folder import RunFolder
from optac.runs.json_files import Row, read_sealed, write_sealed
from optac.runs.kinds import TRAIN, TUNE_FILE
from optac.runs.training_config import training_config, training_id
from optac.sweeps.launcher import Watching, run_sweep
from optac.sweeps.local_executor import Executor
from optac.sweeps.plan import Sweep, SweptRun
from optac.sweeps.tuning_file import Tuning

STARTUP: Final = 5
"""trials that are drawn at random, and that a bar needs at least"""

TrialState = Literal["waiting", "finished", "pruned", "failed"]


@dataclass(frozen=True)
class Trial:
    """One choice of settings: its runs, one a seed, what they came to, and the mean of their curves."""

    number: int
    settings: Mapping[str, Any]
    runs: tuple[str, ...]
    bars: Mapping[str, float] = field(default_factory=dict)
    """step → the least that its best evaluation so far must be there"""
    state: TrialState = "waiting"
    score: int | float | None = None
    curve: Mapping[str, int | float] = field(default_factory=dict)
    why: str | None = None


@dataclass(frozen=True)
class Tuned:
    """All trials, and how much each setting matters for the score where that can be told."""

    path: Path
    trials: tuple[Trial, ...]
    importances: Mapping[str, float]

    @property
    def best(self) -> Trial | None:
        """The finished trial with the highest score, the first of equal ones."""
        finished = [trial for trial in self.trials if trial.state == "finished"]
        return max(finished, key=lambda trial: trial.score or 0.0, default=None)


def tune(
    tuning: Tuning,
    path: Path,
    executor: Callable[[], Executor],
    *,
    retries: int = 2,
    watching: Watching | None = None,
) -> Tuned:
    """Run the trials that are missing, round by round; all of them, with what they came to."""
    require_extra("tune", "tuning needs", "optuna")
    trials = _known_trials(tuning, path)
    while True:
        for start in range(0, len(trials), tuning.together):
            here = slice(start, start + tuning.together)
            if any(trial.state == "waiting" for trial in trials[here]):
                runs = {run.id: run for trial in trials[here] if trial.runs for run in _runs(tuning, trial)}
                sweep = Sweep(tuning.name, tuning.given, tuple(runs.values()))
                run_sweep(sweep, path, executor(), retries=retries, watching=watching)
                trials[here] = [_read(path, trial) for trial in trials[here]]
        found = Tuned(path, tuple(trials), _importances(tuning, trials))
        _write(tuning, found)
        if len(trials) >= tuning.trials:
            return found
        # A round that was cut short by `trials` before is chosen again, from the whole rounds before it.
        start = len(trials) // tuning.together * tuning.together
        chosen = _next_trials(tuning, trials[:start], min(tuning.trials - start, tuning.together))
        trials += chosen[len(trials) - start :]
        _write(tuning, Tuned(path, tuple(trials), found.importances))


def read_tuned(path: Path) -> Tuned:
    """The trials in a folder, as they were last written."""
    said = _sealed(path)
    try:
        trials = [Trial(**{**one, "runs": tuple(one["runs"])}) for one in said["trials"]]
        return Tuned(path, tuple(trials), dict(said["importances"]))
    except (KeyError, TypeError, ValueError) as error:
        raise RunFailed(f"{path / TUNE_FILE} is damaged: {type(error).__name__} {error}") from error


def _sealed(path: Path) -> Row:
    try:
        return read_sealed(path / TUNE_FILE)
    except RunFailed as error:
        raise RunFailed(
            f"{error}; delete it and give the same command: it chooses the same trials, and runs none again"
        ) from error


def _known_trials(tuning: Tuning, path: Path) -> list[Trial]:
    """The trials of before; refused where they are another search's."""
    if not is_there(path / TUNE_FILE):
        return []
    before = _sealed(path).get("search")
    if before != _identity(tuning):
        raise InvalidInput(
            f"{path} holds another search: only `trials` may be changed and continued; give another folder with --out"
        )
    return list(read_tuned(path).trials)


def _identity(tuning: Tuning) -> Any:
    """All of the file that decides which trials there are, in JSON's types."""
    kept = {name: value for name, value in tuning.given["tune"].items() if name not in ("trials", "path")}
    return json.loads(json.dumps({**tuning.given, "tune": kept}))


def _write(tuning: Tuning, found: Tuned) -> None:
    found.path.mkdir(parents=True, exist_ok=True)
    said = {
        "name": tuning.name,
        "search": _identity(tuning),
        "trials": [asdict(trial) for trial in found.trials],
        "importances": found.importances,
        "versions": all_versions(),
    }
    write_sealed(found.path / TUNE_FILE, said)


def _runs(tuning: Tuning, trial: Trial) -> list[SweptRun]:
    return [_run(tuning, trial.settings, seed, trial.bars) for seed in tuning.seeds]


def _run(tuning: Tuning, settings: Mapping[str, Any], seed: int, bars: Mapping[str, float]) -> SweptRun:
    given = {**tuning.settings, **settings}
    config = training_config(tuning.environment, tuning.agent, steps=tuning.steps, seed=seed, settings=given)
    return SweptRun(training_id(config), {**config, "bars": dict(bars)})


def _read(path: Path, trial: Trial) -> Trial:
    """The trial with what its runs came to; one that was refused has none."""
    if not trial.runs:
        return trial
    curves, reasons, states = [], [], set()
    for name in trial.runs:
        folder = RunFolder.open(path / name)
        status, rows = folder.status, folder.rows()
        curves.append({row[TRAIN.reached]: row[TRAIN.score] for row in rows if TRAIN.score in row})
        reasons += [status.why] if status is not None and status.why else []
        states.add("waiting" if status is None else status.state)
    if not states <= {"finished", "failed"}:
        return trial
    shared = sorted(set.intersection(*(set(curve) for curve in curves)))
    curve = {str(step): fmean(one[step] for one in curves) for step in shared}
    state: TrialState = "failed" if "failed" in states or not shared else "pruned" if reasons else "finished"
    score = None if state == "failed" else curve[str(shared[-1])]
    return Trial(
        trial.number,
        trial.settings,
        trial.runs,
        trial.bars,
        state,
        score,
        curve,
        "; ".join(dict.fromkeys(reasons)) or None,
    )


def _next_trials(tuning: Tuning, trials: Sequence[Trial], count: int) -> list[Trial]:
    """The trials of the next round, chosen from those of the rounds before; settings that were tried are kept so."""
    seed = int.from_bytes(hashlib.sha256(f"{tuning.seed} {len(trials)}".encode()).digest()[:4])
    study, bars = _study(tuning, trials, seed), _bars(trials) if tuning.prune else {}
    chosen: list[Trial] = []
    for number in range(len(trials), len(trials) + count):
        settings = dict(study.ask(_distributions(tuning)).params)
        again = next((one for one in (*trials, *chosen) if one.settings == settings), None)
        try:
            ids = tuple(_run(tuning, settings, one, bars).id for one in tuning.seeds)
        except InvalidInput as error:  # each value is allowed, and these together are not
            chosen.append(Trial(number, settings, (), bars, "failed", why=str(error)))
            continue
        if again is None:
            chosen.append(Trial(number, settings, ids, bars))
        else:
            chosen.append(Trial(**{**vars(again), "number": number}))
    return chosen


def _bars(trials: Sequence[Trial]) -> dict[str, float]:
    """At each step the median of the trials' best evaluations so far, where enough of them were evaluated."""
    there: dict[str, list[float]] = {}
    for trial in (trial for trial in trials if trial.state in ("finished", "pruned")):
        best_so_far = accumulate(trial.curve.values(), max)
        for step, best in zip(trial.curve, best_so_far, strict=True):
            there.setdefault(step, []).append(best)
    return {step: median(there[step]) for step in sorted(there, key=int) if len(there[step]) >= STARTUP}


def _study(tuning: Tuning, trials: Sequence[Trial], seed: int) -> Any:
    """An Optuna study in memory that knows these trials."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=STARTUP, constant_liar=True)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    states = {"finished": optuna.trial.TrialState.COMPLETE, "pruned": optuna.trial.TrialState.PRUNED}
    for trial in trials:
        made = optuna.trial.create_trial(
            state=states.get(trial.state, optuna.trial.TrialState.FAIL),
            params=dict(trial.settings),
            distributions=_distributions(tuning),
            value=trial.score,
            intermediate_values={int(step): value for step, value in trial.curve.items()},
        )
        study.add_trial(made)
    return study


def _distributions(tuning: Tuning) -> dict[str, Any]:
    from optuna import distributions

    made: dict[str, Any] = {}
    for name, one in tuning.search.items():
        if one.choices is not None:
            made[name] = distributions.CategoricalDistribution(one.choices)
        elif one.whole:
            step = int(one.step or 1)
            made[name] = distributions.IntDistribution(int(one.low), int(one.high), log=one.log, step=step)
        else:
            made[name] = distributions.FloatDistribution(one.low, one.high, log=one.log, step=one.step)
    return made


def _importances(tuning: Tuning, trials: Sequence[Trial]) -> dict[str, float]:
    """The share of each setting in the spread of the scores, by PED-ANOVA; nothing where too few trials differ."""
    import optuna

    scores = [trial.score for trial in trials if trial.state == "finished"]
    if len(scores) < STARTUP or len(set(scores)) < 2:
        return {}
    evaluator = optuna.importance.PedAnovaImportanceEvaluator()
    return dict(optuna.importance.get_param_importances(_study(tuning, trials, 0), evaluator=evaluator))
