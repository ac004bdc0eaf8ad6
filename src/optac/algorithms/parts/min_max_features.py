"""LearnRep: the feature of a list Φ that predicts every discriminator as well as any other could.

The discriminators are F = { s' ↦ mean_a ⟨φ'_{h+1}(s',a), θ⟩ : φ' in Φ, ‖θ‖₂ ≤ √d }. They are linear in θ, so for a
finite Φ the adversary's problem, max over θ of the difference of two quadratic forms, is a largest
eigenvalue, and the whole min-max is exact. An adversarial round is one CP call, priced by its fits: one
over the discriminators so far, and one for every pair (φ̃, φ').
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from optac.oracles import Bill


@dataclass(frozen=True)
class LearntFeature:
    """The candidate chosen, the gap the last adversary found, and whether the cap on rounds ended the search."""

    candidate: int
    gap: float
    rounds: int
    capped: bool
    bill: Bill


def explained_forms(
    features: Float[np.ndarray, "candidate state action rank"],
    next_features: Float[np.ndarray, "candidate state action rank"],
    counts: Int[np.ndarray, "state action state"] | Float[np.ndarray, "state action state"],
) -> Float[np.ndarray, "candidate candidate rank rank"]:
    """K[φ, φ'] with θᵀK[φ, φ']θ = how much of E[f_{φ',θ}(s')|s,a] the best ⟨φ(s,a), w⟩ explains, over the data.

    The data's weights sum to 1. What is left unexplained, as far as any φ could explain it, is the rest.
    """
    candidates, states, actions, rank = features.shape
    total = max(float(counts.sum()), 1.0)
    flat = counts.reshape(states * actions, states) / total
    root = np.sqrt(flat.sum(axis=-1))
    with np.errstate(divide="ignore", invalid="ignore"):
        normalised = np.where(root[:, None] > 0, flat / root[:, None], 0.0)
    targets = normalised @ next_features.mean(axis=2)
    left, singular, _ = np.linalg.svd(
        features.reshape(candidates, states * actions, rank) * root[:, None], full_matrices=False
    )
    basis = np.where(singular[:, None, :] > 1e-9, left, 0.0)
    explained = np.einsum("cxd,fxe->cfde", basis, targets, optimize=True)
    return np.einsum("cfde,cfdg->cfeg", explained, explained, optimize=True)


def learn_feature(
    forms: Float[np.ndarray, "candidate candidate rank rank"], *, tolerance: float, max_rounds: int
) -> LearntFeature:
    """Greedy min-max: the candidate best for the discriminators so far, then the worst discriminator for it.

    gap(φ) = max over f in F and φ̃ in Φ of min_w L(φ, w; f) − min_w L(φ̃, w; f); it stops once gap ≤ tolerance.
    """
    candidates, _, rank, _ = forms.shape
    explained = np.zeros(candidates)
    bill = Bill()
    gap, chosen = np.inf, 0
    for rounds in range(1, max_rounds + 1):
        chosen = int(explained.argmax())
        values, vectors = np.linalg.eigh(forms - forms[chosen])
        bill = bill + Bill(SL=1 + candidates**2, CP=1, accuracy=0.0)
        rival, discriminator = np.unravel_index(int(values[..., -1].argmax()), (candidates, candidates))
        gap = rank * float(values[rival, discriminator, -1])
        if gap <= tolerance:
            return LearntFeature(chosen, gap, rounds, False, bill)
        theta = np.sqrt(rank) * vectors[rival, discriminator, :, -1]
        explained += np.einsum("d,cde,e->c", theta, forms[:, discriminator], theta)
    return LearntFeature(chosen, gap, max_rounds, True, bill)
