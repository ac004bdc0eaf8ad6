"""The agents as a user meets them: made for an environment, they learn, act, save and load."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, SupportsIndex, TypeVar, Unpack

import numpy as np
from jaxtyping import Float

from optac import registry
from optac.agents import crffsac, sac
from optac.agents.record import AgentRecord, Given, record_of
from optac.agents.setting_types import AgentSettingTypes, FeatureSettingTypes
from optac.agents.settings import AgentSettings, show_settings
from optac.agents.shown import learning_curve, shown
from optac.agents.training import checkpoint, snapshot
from optac.agents.training.callbacks import Callbacks, Training, several
from optac.agents.training.callbacks import Given as Watching
from optac.agents.training.compiled import compiled
from optac.agents.training.environment_calls import (
    Env,
    another,
    check_another,
    is_elsewhere,
    opened,
)
from optac.agents.training.evaluation import Evaluation, evaluate
from optac.agents.training.learner import begin, stream_seed
from optac.agents.training.loop import Row, train
from optac.agents.training.progress import training_progress
from optac.agents.training.saved import Saved, saved
from optac.agents.training.store import learner_of
from optac.environments import standing
from optac.errors import InvalidInput
from optac.settings import read, whole
from optac.threads import limit_threads

if TYPE_CHECKING:
    from optac.figures import Picture

Made = TypeVar("Made", bound="Agent")


class Agent:
    """Any agent, by its name, its module or its record: `optac.Agent("Hopper-v5", agent=my_module)`."""

    names: ClassVar[tuple[str, ...]] = ()
    """the agents that the class loads; none named means any"""

    def __init__(
        self,
        env: Env | str,
        *,
        agent: Given = "crffsac",
        seed: SupportsIndex = 0,
        threads: int = 1,
        eval_env: Env | str | None = None,
        **settings: Any,
    ) -> None:
        """An untrained agent for `env`, an id or a Gymnasium environment; evaluated in `eval_env` or one like `env`."""
        limit_threads(threads)
        record = record_of(agent)
        self.settings = record.choose(settings)
        self.rows: list[Row] = []
        self._given_env, self._eval_env = env, eval_env
        self._learner = begin(compiled(record, self.settings), opened(env, eval_env), seed)
        self._generator = np.random.default_rng(self._learner.seed)
        self._left = standing(self._learner.env)

    @property
    def steps(self) -> int:
        """Steps taken in the environment."""
        return self._learner.step

    @property
    def parameters_sha256(self) -> str:
        """A hash of every trained array."""
        return snapshot.parameters_sha256(self._learner)

    def learn(self: Made, steps: int, callback: Watching | Iterable[Watching] | None = None) -> Made:
        """Take `steps` more steps.

        `callback` is one or several: objects that extend `optac.Callback`, or functions that get each row of metrics
        and stop the training with False.
        """
        steps = whole("steps", steps)
        watched = Training(self._learner, self.steps + steps, self.rows)
        callbacks = Callbacks.of(watched, several(callback))
        self._notice_moves()
        self._check_evaluations()

        def on_row(row: Row) -> None:
            callbacks.row(row)
            progress.row(row)

        callbacks.start()
        self._left = None  # until the end the environment is where the training moves it
        try:
            with training_progress(self.steps, watched.total) as progress:
                train(
                    self._learner,
                    watched.total,
                    make_env=self._another,
                    on_row=on_row,
                    on_block=progress.step,
                    should_stop=lambda: watched.why is not None,
                )
        finally:
            self._left = standing(self._learner.env)
        callbacks.end()
        return self

    def _check_evaluations(self) -> None:
        """Say before the first step what evaluations lack, where the environment is as it was when it was given."""
        env, first = self._given_env, self.steps == 0 and not self._learner.adrift
        if first and self.settings.eval_every > 0 and self._eval_env is None and not isinstance(env, str):
            seed = stream_seed(self._learner.seed, "environment")
            check_another(env, seed, self.settings.step_timeout)

    def _notice_moves(self) -> None:
        """Begin a new episode where `env` was used meanwhile: what was observed last is not where it is now."""
        learner = self._learner
        if not learner.adrift and is_elsewhere(learner.env, self._left):
            learner.adrift, learner.exact = True, False

    def _another(self) -> Env:
        return another(self._given_env, self._eval_env)

    def predict(
        self, obs: Float[np.ndarray, "*batch obs"], deterministic: bool = True
    ) -> tuple[Float[np.ndarray, "*batch act"], None]:
        """The action for an observation (or one for each row), in the environment's unit, and None."""
        given = np.asarray(obs, np.float32)
        size = self._learner.observation.size
        if given.shape[-1:] != (size,):
            raise InvalidInput(
                f"the observation has shape {given.shape}; its last axis must have size {size}"
            )
        policy = self._learner.policy
        action = policy.mode(given) if deterministic else policy.sample(given, generator=self._generator)
        return policy.to_env(action), None

    def evaluate(self, episodes: int = 10, *, seed: SupportsIndex = 0) -> Evaluation:
        """Play episodes with the deterministic policy in an environment of their own; nothing is learnt from them.

        The answer has `mean` and `std`, and of each episode `returns` and `lengths`. No evaluation had their seeds
        so far; `seed` chooses among them. Loaded from a run that went to its last step, these are the episodes of
        `optac eval`.
        """
        episodes, seed = whole("episodes", episodes), whole("seed", seed, least=0)
        return evaluate(
            self._learner.policy,
            self._another,
            episodes=episodes,
            seed=self._learner.seed,
            place=self.steps + 1 + seed,
            step_timeout=self.settings.step_timeout,
            max_steps=self.settings.eval_max_steps,
        )

    def plot(self) -> "Picture":
        """The mean return of every evaluation against the steps taken, as a matplotlib figure."""
        return learning_curve(repr(self)[1:-1], self.rows)

    def __repr__(self) -> str:
        env = self._given_env
        name = env if isinstance(env, str) else env.spec.id if env.spec else type(env.unwrapped).__name__
        return f"<{self._learner.chosen.record.name} on {name}: {self.steps:,} steps>"

    def _repr_html_(self) -> str:
        return shown(repr(self)[1:-1], self.settings, self.rows)

    def save(self, path: Path | str, *, replay: bool = True) -> None:
        """Write the agent to the folder `path`; loaded again, it goes on as if it had not been.

        Without its replay it acts as before, but goes on learning from an empty buffer.
        """
        self._notice_moves()
        arrays, meta = snapshot.take(self._learner)
        env = self._given_env if isinstance(self._given_env, str) else None
        held, rows = self._learner.replay, None
        if replay and len(held):
            rows = (held.oldest(), held.between(held.oldest(), held.added)._asdict())
        eval_env = self._eval_env if isinstance(self._eval_env, str) else self._eval_env is not None
        meta |= {"env": env, "eval_env": eval_env, "rows": self.rows}
        meta |= {"predictions": self._generator.bit_generator.state}
        checkpoint.save(Path(path).resolve(), arrays, meta, own_rows=rows)

    def export(self, file: Path | str) -> None:
        """Write the policy to `file`, an .npz that `optac.numpy_policy.load` reads with numpy alone."""
        self._learner.policy.save(file)

    @classmethod
    def load(
        cls: type[Made],
        path: Path | str,
        env: Env | str | None = None,
        *,
        agent: Given | None = None,
        threads: int = 1,
        trust: bool = False,
        eval_env: Env | str | None = None,
    ) -> Made:
        """The agent of `save`, of a training's folder (its newest sound checkpoint) or of one of its checkpoints.

        `env` and `eval_env` are needed where they were not given by their names, `agent` where that is no registered
        name. Where `env` was made or wrapped otherwise, a new episode begins in it. One that Gymnasium did not make is
        put where the saved one was, all its attributes with it. Code that only the file names is imported with
        `trust` alone.
        """
        limit_threads(threads)
        kept = saved(Path(path).resolve())
        found = kept.found
        with checkpoint.read_as_ours(found):
            record = cls._record(kept, agent, trust)
        chosen_env = kept.environment if env is None else env
        if chosen_env is None:
            raise InvalidInput(f"{found.path} is of an agent whose environment has no name; pass it as env=")
        if eval_env is None and chosen_env == kept.environment:
            eval_env = kept.evaluated_in()
        with registry.named_by(found.path if env is None else None, trust=trust):
            where = opened(chosen_env, eval_env)
        with checkpoint.read_as_ours(found):
            made = cls._class_of(record.name).__new__(cls._class_of(record.name))
            made.settings = record.choose(found.meta["settings"], recorded=True)
            made.rows = kept.rows
            made._given_env, made._eval_env = chosen_env, eval_env
            made._generator = np.random.default_rng(int(found.meta["seed"]))
            if kept.predictions is not None:
                made._generator.bit_generator.state = kept.predictions
        made._learner = learner_of(found, compiled(record, made.settings), where)
        made._left = standing(where)
        return made

    @classmethod
    def _class_of(cls: type[Made], name: str) -> type[Made]:
        """The class of an agent of this name: the one that names it, else this one."""
        return next((kind for kind in cls.__subclasses__() if name in kind.names), cls)

    @classmethod
    def _record(cls, kept: Saved, given: Given | None, trust: bool) -> AgentRecord:
        """The record of a saved agent; refuses one of another class, and imports nothing that only the file names."""
        place, name = kept.found.path, kept.found.meta["agent"]
        if not isinstance(name, str) or not isinstance(kept.agent, str):
            raise ValueError(f"agent {name!r}")
        if cls.names and name not in cls.names:
            raise InvalidInput(
                f"{place} holds a {name} agent; load it with optac.{Agent._class_of(name).__name__}.load"
            )
        if given is None and not trust and kept.agent not in registry.entries("agent"):
            raise InvalidInput(
                f"{place} holds a {kept.agent} agent, which is no registered name; pass its module or record as "
                "agent=, or trust=True to import what it names"
            )
        record = record_of(kept.agent if given is None else given)
        if record.name != name:
            raise InvalidInput(f"{place} holds a {name} agent, not {record.name}; pass that one as agent=")
        return record


class SAC(Agent):
    """Soft actor-critic."""

    names = (sac.AGENT.name,)

    def __init__(
        self,
        env: Env | str,
        *,
        seed: SupportsIndex = 0,
        threads: int = 1,
        eval_env: Env | str | None = None,
        **settings: Unpack[AgentSettingTypes],
    ) -> None:
        super().__init__(env, agent=sac.AGENT, seed=seed, threads=threads, eval_env=eval_env, **settings)


class CRFFSAC(Agent):
    """Soft actor-critic on features φ(s, a) that predict the next state; `bonus=True` adds the bonus."""

    names = (crffsac.AGENT.name, crffsac.WITH_BONUS.name)

    def __init__(
        self,
        env: Env | str,
        *,
        bonus: bool = False,
        seed: SupportsIndex = 0,
        threads: int = 1,
        eval_env: Env | str | None = None,
        **settings: Unpack[FeatureSettingTypes],
    ) -> None:
        record = crffsac.WITH_BONUS if read("bonus", bonus, bool) else crffsac.AGENT
        super().__init__(env, agent=record, seed=seed, threads=threads, eval_env=eval_env, **settings)


show_settings(SAC, AgentSettings)
show_settings(CRFFSAC, crffsac.Settings)
