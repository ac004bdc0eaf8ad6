"""`rich-lock`: the combination lock behind rotated, noisy observations, with exogenous codes louder than the signal.

The latent lock is that of `combination-lock`, but the start is either live row and the anti-shaped reward is drawn: a
wrong action pays 0.1 with probability ½. At step h latent z shows x = M·g, g = e_z + e_{3+h} + N(0, noise²) with M the
Hadamard matrix (entries ±1), as in the public code of Zhang et al. (2022, `envs/Lock_batch.py` of yudasong/briee).

Differs from it:

- `distractors` add as many exogenous codes, each one of 4 values drawn afresh at every step, of amplitude 2. They carry
  no information and have more variance than the latent: clusters of observations are clusters of them.
- With `persistent` a distractor keeps the value it had at the first step. It then tells its own future, and whoever
  looks for what the future depends on finds it: it is part of the latent, 3·4^distractors of them.
- With `shared` the code of the step is left out: a latent looks the same at every step, and one decoder would do.
- `dim` may be any power of two from the least one, 2^⌈log₂(H + 4 + 4·distractors)⌉. There, noise fills the coordinates
  of the codes; with a larger `dim` it fills all of them.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import hadamard

from optac.array_types import Array
from optac.errors import InvalidInput
from optac.mdp.families.locks import DEAD, LIVE_ROWS, ROWS
from optac.mdp.rich_problem import RichProblem
from optac.settings import require_at_least, require_memory

VALUES = 4
AMPLITUDE = 2.0
CONSOLATION = 0.1
MOST_PERSISTENT = 2
OBSERVATIONS = 1_000
"""that many have to fit into memory"""


@dataclass(frozen=True)
class RotatedCodes:
    """x = M(e_z + e_{3+h} + distractors + noise)."""

    horizon: int
    noise: float
    dim: int
    distractors: int
    persistent: bool = False
    shared: bool = False

    @property
    def least(self) -> int:
        """The least dimension that holds every code."""
        codes = self.horizon + ROWS + VALUES * self.distractors
        return 1 << int(codes).bit_length()

    @cached_property
    def rotation(self) -> Array:
        return np.asarray(hadamard(self.dim), dtype=np.float32)

    def draw(self, h: int, latents: Array, rng: np.random.Generator) -> Array:
        """One observation of every latent; with `persistent` a latent is 3·(the distractors' digits) + its row."""
        batch, codes = len(latents), self.horizon + ROWS
        noisy = self.dim if self.dim > self.least else codes + VALUES * self.distractors
        code = np.zeros((batch, self.dim), dtype=np.float32)
        code[:, :noisy] = rng.normal(0.0, self.noise, (batch, noisy))
        row = np.arange(batch)
        code[row, latents % ROWS] += 1.0
        if not self.shared:
            code[:, ROWS + h] += 1.0
        for j in range(self.distractors):
            kept = latents // ROWS // VALUES**j % VALUES
            value = kept if self.persistent else rng.integers(VALUES, size=batch)
            code[row, codes + VALUES * j + value] += AMPLITUDE
        return code @ self.rotation


def rich_lock(
    *,
    horizon: int = 6,
    actions: int = 10,
    noise: float = 0.1,
    dim: int | None = None,
    distractors: int = 0,
    persistent: bool = False,
    shared: bool = False,
    seed: int = 0,
) -> RichProblem:
    """The lock seen through rotated noisy codes in R^dim; V* = 1, opened uniformly once in |A|^H episodes."""
    require_at_least(1, horizon=horizon)
    require_at_least(2, actions=actions)
    require_at_least(0, noise=noise, distractors=distractors)
    least = RotatedCodes(horizon, noise, 0, distractors).least
    dim = least if dim is None else dim
    if dim < least or dim & (dim - 1):
        raise InvalidInput(
            f"dim={dim} is not valid; horizon {horizon} and {distractors} distractors need a power of two from {least}"
        )
    require_memory(8 * OBSERVATIONS * dim, f"{OBSERVATIONS:,} observations", "dim, horizon or distractors")
    if persistent and distractors > MOST_PERSISTENT:
        raise InvalidInput(
            f"persistent=true with distractors={distractors} is a table of {ROWS * VALUES**distractors} latents; "
            f"there may be {MOST_PERSISTENT} persistent distractors"
        )
    latents = ROWS * VALUES**distractors if persistent else ROWS
    require_memory(8 * horizon * latents * actions * latents, "the problem's tables", "horizon or actions")
    good = np.random.default_rng(seed).integers(actions, size=(horizon, LIVE_ROWS))
    step, row = np.indices(good.shape)
    transitions: Array = np.zeros((horizon, ROWS, actions, ROWS))
    transitions[..., DEAD] = 1.0
    transitions[step, row, good] = [0.5, 0.5, 0.0]
    pays, chances = np.zeros((2, horizon, ROWS, actions))
    pays[:, :LIVE_ROWS], chances[:, :LIVE_ROWS] = CONSOLATION, 0.5
    pays[step, row, good] = chances[step, row, good] = 0.0
    last = horizon - 1, np.arange(LIVE_ROWS), good[-1]
    pays[last] = chances[last] = 1.0
    parameters = {
        "horizon": horizon,
        "actions": actions,
        "noise": noise,
        "dim": dim,
        "distractors": distractors,
        "persistent": persistent,
        "shared": shared,
        "seed": seed,
    }
    emission = RotatedCodes(horizon, noise, dim, distractors, persistent, shared)
    initial = np.array([0.5, 0.5, 0.0])
    if persistent:
        copies = VALUES**distractors
        transitions = np.kron(np.eye(copies)[:, None], transitions)
        pays, chances = (np.tile(table, (1, copies, 1)) for table in (pays, chances))
        initial = np.tile(initial, copies) / copies
    return RichProblem("rich-lock", parameters, transitions, pays, chances, initial, emission)
