"""An MDP given as a plain table of transitions and rewards: every table is low-rank, and its factors are found here."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from optac.errors import InvalidProblem
from optac.mdp import validation
from optac.mdp.low_rank import LowRankMDP
from optac.settings import read

ROUNDING = 12


class TabularMDP(LowRankMDP):
    """A problem from P(s'|s,a) and r(s,a): one table for every step, or one for each.

    Its factors lie on the simplex, so that each is a latent: over the next states that can be reached, or over the
    distinct rows of P, whichever are fewer. They multiply to P; rows that agree in 12 digits count as one.
    """

    def __init__(
        self,
        P: Any,
        r: Any,
        horizon: int | None = None,
        initial_state: Any = 0,
        *,
        rescale: bool = False,
        name: str = "tables",
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        """`P` is (S, A, S) or (H, S, A, S), `r` is (S, A) or (H, S, A); `horizon` may be left out where one says H.

        Rewards outside [0, 1] are refused, or with `rescale` mapped into it; `original` undoes that.
        """
        self.P = _table(P, "P", "(S, A, S) or (H, S, A, S)", 3)
        self.r = _table(r, "r", "(S, A) or (H, S, A)", 2)
        self.rescale = rescale
        states, actions = _sizes(self.P, self.r)
        steps = _horizon(horizon, self.P, self.r)
        _check_rows(self.P)
        phi, mu = _factors(self.P)
        low, scale = (float(self.r.min()), float(np.ptp(self.r)) or 1.0) if self.rescale else (0.0, 1.0)
        super().__init__(
            np.broadcast_to(phi, (steps, *phi.shape[-3:])),
            np.broadcast_to(mu, (steps, *mu.shape[-2:])),
            np.broadcast_to((self.r - low) / scale, (steps, states, actions)),
            initial_state,
            name=name,
            parameters=parameters,
            reward_scale=scale,
            reward_offset=low,
        )

    def arrays(self) -> dict[str, Any]:
        """The contents of this problem's file: what it was made of."""
        return {
            "P": self.P,
            "r": self.r,
            "horizon": self.horizon,
            "initial_state": self.initial,
            "rescale": self.rescale,
        }


def simplex_factors(transitions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """φ (S,A,d) and μ (d,S), both rows of distributions, with T = φμ for one step's T (S,A,S)."""
    states = len(transitions)
    rows = transitions.reshape(-1, states)
    distinct, which = np.unique(rows.round(ROUNDING), axis=0, return_inverse=True)
    reachable = np.flatnonzero(rows.max(axis=0) > 0)
    if len(distinct) < len(reachable):
        first = np.unique(which.ravel(), return_index=True)[1]
        return np.eye(len(distinct))[which.ravel()].reshape(*transitions.shape[:2], -1), rows[first]
    return transitions[..., reachable], np.eye(states)[reachable]


def _factors(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The factors of every step; those of a step with fewer are filled up with zeros."""
    if table.ndim == 3:
        return simplex_factors(table)
    steps = [simplex_factors(step) for step in table]
    rank = max(phi.shape[-1] for phi, _ in steps)
    filled = [rank - phi.shape[-1] for phi, _ in steps]
    phis = [np.pad(phi, ((0, 0), (0, 0), (0, few))) for (phi, _), few in zip(steps, filled, strict=True)]
    mus = [np.pad(mu, ((0, few), (0, 0))) for (_, mu), few in zip(steps, filled, strict=True)]
    return np.stack(phis), np.stack(mus)


def _table(values: Any, name: str, axes: str, least: int) -> np.ndarray:
    """A read-only copy, of `least` axes or with the step before them."""
    try:
        array = np.array(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise InvalidProblem(f"{name} must be a numeric array of shape {axes}: {error}") from None
    if array.ndim not in (least, least + 1) or 0 in array.shape:
        raise InvalidProblem(f"{name} must have shape {axes}, with no empty axis; got {array.shape}")
    validation.check_finite(array, name, "index")
    array.flags.writeable = False
    return array


def _sizes(P: np.ndarray, r: np.ndarray) -> tuple[int, int]:
    """S and A, on which the two tables agree."""
    states, actions, following = P.shape[-3:]
    if states != following:
        hint = ""
        if actions == following:
            hint = "; a table (A, S, S) with the action first becomes one with P.swapaxes(-3, -2)"
        raise InvalidProblem(f"P must have shape (S, A, S) or (H, S, A, S), S twice; got {P.shape}{hint}")
    if r.shape[-2:] != (states, actions):
        hint = ""
        if r.shape == P.shape:
            hint = "; a reward that depends on the next state enters by its mean, (P * r).sum(-1)"
        raise InvalidProblem(
            f"P {P.shape} needs r of shape (S, A) = {(states, actions)}, or (H, S, A); got {r.shape}{hint}"
        )
    return states, actions


def _horizon(given: int | None, P: np.ndarray, r: np.ndarray) -> int:
    """H, as the argument and the tables with a step say it."""
    said = {} if given is None else {"horizon": int(read("horizon", given, int, least=1))}
    said |= {"P": len(P)} if P.ndim == 4 else {}
    said |= {"r": len(r)} if r.ndim == 3 else {}
    if not said:
        raise InvalidProblem("P (S, A, S) and r (S, A) hold for any step; say how many with horizon=20")
    if len(set(said.values())) > 1:
        words = ", ".join(f"{name} says {steps}" for name, steps in said.items())
        raise InvalidProblem(f"the number of steps must agree; {words}")
    return next(iter(said.values()))


def _check_rows(P: np.ndarray) -> None:
    """Each P(·|s,a) is a distribution."""
    axes = "(s, a)" if P.ndim == 3 else "(h, s, a)"
    totals = P.sum(axis=-1)
    wrong = (P.min(axis=-1) < -validation.TOLERANCE) | (np.abs(totals - 1) > validation.TOLERANCE)
    if wrong.any():
        place = tuple(int(index) for index in np.argwhere(wrong)[0])
        raise InvalidProblem(
            f"P(·|s,a) must be a distribution; at {axes} = {place} its entries sum to {totals[place]:.6g} and the "
            f"smallest is {P[place].min():g}. The last axis of P is the next state"
        )
