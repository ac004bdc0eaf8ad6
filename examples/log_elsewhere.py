"""Log a training elsewhere: every row of metrics into a database, with a callback of twenty lines.

    python examples/log_elsewhere.py
    optac train Pendulum-v1 --agent sac --callback log_elsewhere:Database --path examples

A service of one's own (Weights & Biases, MLflow, a chat) takes the same three methods.
"""

import sqlite3
import sys
from pathlib import Path
from typing import Any

import optac


class Database(optac.Callback):
    """Writes (step, name, value) into rows.sqlite in the run's folder, or where it is told."""

    def __init__(self, file: Path | str | None = None) -> None:
        self.file = None if file is None else Path(file)

    def on_start(self, training: Any) -> None:
        self.database = sqlite3.connect(training.place(self.file, "rows.sqlite"))
        self.database.execute("CREATE TABLE IF NOT EXISTS rows (step INTEGER, name TEXT, value REAL)")
        # A run that was killed and is resumed makes its last rows again.
        self.database.execute("DELETE FROM rows WHERE step > ?", [training.step])

    def on_row(self, training: Any, row: dict[str, Any]) -> None:
        values = [(training.step, name, value) for name, value in row.items()]
        self.database.executemany("INSERT INTO rows VALUES (?, ?, ?)", values)
        self.database.commit()

    def on_end(self, training: Any) -> None:
        self.database.close()


def main(file: str = "rows.sqlite", steps: int = 20_000) -> None:
    """Train SAC on the pendulum, stop when it swings up, keep its best policy, and read the curve back."""
    watching = [Database(file), optac.BestCheckpoint("best.npz"), optac.StopOnReward(-250)]
    agent = optac.SAC("Pendulum-v1", learning_starts=1_000, eval_every=1_000)
    agent.learn(steps, callback=watching)
    with sqlite3.connect(file) as database:
        query = "SELECT step, value FROM rows WHERE name = 'eval/mean_reward' ORDER BY step"
        for step, value in database.execute(query):
            print(f"{step:6d} {value:9.1f}")
    database.close()


if __name__ == "__main__":
    main(*sys.argv[1:2], *map(int, sys.argv[2:3]))
