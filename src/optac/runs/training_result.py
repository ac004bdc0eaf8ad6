"""The result of a training run; loads no JAX."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class TrainingResult:
    """A run's last evaluation, a hash of all it has learnt, and its speed in this process."""

    agent: str
    environment: str
    seed: int
    steps: int
    mean_reward: float | None
    std_reward: float | None
    episodes: int
    parameters_sha256: str | None
    steps_per_second: float | None
    exact: bool | None
    folder: str

    def summary(self) -> dict[str, Any]:
        """For `--json`; the speed only where there was a training to measure."""
        said = asdict(self)
        said["out"] = said.pop("folder")
        if self.steps_per_second is None:
            del said["steps_per_second"]
        return said

    def record(self) -> dict[str, Any]:
        """For result.json: wall-clock values under `time/`, and not where the run lies."""
        kept = {name: value for name, value in asdict(self).items() if name != "folder"}
        kept["time/steps_per_second"] = kept.pop("steps_per_second")
        return kept
