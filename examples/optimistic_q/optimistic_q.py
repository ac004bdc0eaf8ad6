"""Optimistic Q-learning (Jin et al., 2018, arXiv:1807.03765): at the t-th visit Q ← (1 − α)Q + α(r + V(s') + b), where
α = (H + 1)/(H + t) and b = c/√t. A round plays H episodes of the greedy policy and calls no oracle."""

from dataclasses import dataclass

import numpy as np

from optac.extend import Handle, PlayingState


@dataclass(frozen=True)
class Settings:
    bonus_scale: float = 0.3  # c; the theorem has √(H³ log)


PRESETS = {"practical": lambda sizes: Settings(), "theory": lambda sizes: Settings()}


def default_iterations(horizon: int) -> int:
    return 500


@dataclass(frozen=True, kw_only=True)
class State(PlayingState):
    q_values: np.ndarray
    visits: np.ndarray


@dataclass(frozen=True)
class Info:
    optimistic_value: float


def init(settings: Settings, handle: Handle) -> State:
    visits = np.zeros((handle.horizon, handle.states, handle.actions))
    q_values = visits + np.arange(handle.horizon, 0, -1)[:, None, None]
    return State(policy=greedy(q_values), q_values=q_values, visits=visits)


def step(settings: Settings, state: State, handle: Handle, rng: np.random.Generator) -> tuple[State, Info]:
    q_values, visits, horizon = state.q_values.copy(), state.visits.copy(), handle.horizon
    played = handle.play_one(state.policy, horizon)
    for h, episode in np.ndindex(played.actions.shape):
        here = h, played.states[h, episode], played.actions[h, episode]
        visits[here] += 1
        rate = (horizon + 1) / (horizon + visits[here])
        ahead = q_values[h + 1, played.states[h + 1, episode]].max() if h + 1 < horizon else 0.0
        target = handle.rewards[here] + ahead + settings.bonus_scale / np.sqrt(visits[here])
        q_values[here] = min((1 - rate) * q_values[here] + rate * target, horizon - h)
    info = Info(float(handle.initial @ q_values[0].max(axis=-1)))
    return State(policy=greedy(q_values), q_values=q_values, visits=visits), info


def greedy(q_values: np.ndarray) -> np.ndarray:
    return np.eye(q_values.shape[-1])[q_values.argmax(axis=-1)]
