"""Draw the pictures of docs/explanation/ideas.md, of rich observations and of the tutorials into docs/images.

python -m scripts.idea_pictures
"""

import os
import tempfile

import numpy as np

import optac
from optac.figures import COLOURS, figure
from optac.mdp import uniform_policy
from scripts.page_examples import DOCS, examples, plans

IMAGES = DOCS / "images"


def low_rank() -> None:
    """One step of a lock seen through ids: the table of transitions, and the two thin factors it is made of."""
    problem = optac.make_problem("observed-lock", horizon=3, actions=3, observations=6)
    table = problem.transitions[1].reshape(-1, problem.states)
    parts = {
        f"T: {table.shape[0]} pairs (s, a) × {table.shape[1]} next states": table,
        "φ: three latents for each pair": problem.phi[1].reshape(-1, problem.rank),
        "μ: next states for each latent": problem.mu[1],
    }
    with figure(IMAGES / "idea-low-rank.png", 1, 3, size=(10, 4), width_ratios=[6, 2, 6]) as axes:
        for axis, (title, matrix) in zip(axes, parts.items(), strict=True):
            axis.imshow(matrix, aspect="auto", cmap="Blues", vmin=0.0, vmax=matrix.max())
            axis.set_title(title, fontsize="small")
            axis.set(xticks=[], yticks=[])
            axis.grid(False)
        axes[1].set_xlabel("latent")
        axes[0].set(xlabel="next state s'", ylabel="pair (s, a)")
        axes[2].set(xlabel="next state s'", ylabel="latent")


def exploration() -> None:
    """The probability that uniform play still has the lock open, by step; and that the best policy has."""
    lock = optac.make_problem("combination-lock", horizon=6, actions=10)
    with figure(IMAGES / "idea-exploration.png", size=(6, 3.4)) as axis:
        for colour, (label, policy) in zip(
            COLOURS,
            {"uniform play": uniform_policy(*lock.shape), "the best policy": lock.optimal_policy}.items(),
            strict=False,
        ):
            alive = lock.occupancy(policy)[:, :2].sum(axis=1)
            axis.plot(range(1, 7), alive, marker="o", color=colour, label=label)
        axis.set(yscale="log", xlabel="step", ylabel="probability that the lock\ncan still be opened")
        axis.legend()


def bonus() -> None:
    """The bonus of a feature that was seen n times alone, and of one that lies between two that were seen."""
    with figure(IMAGES / "idea-bonus.png", size=(6, 3.4)) as axis:
        counts = np.arange(0, 101)
        alone, between = np.eye(3)[0], np.array([0.5, 0.5, 0.0])
        never = np.eye(3)[2]
        for colour, (label, feature) in zip(
            COLOURS,
            {
                "never seen: no other says anything of it": never,
                "seen n times": alone,
                "between two that were seen n times each": between,
            }.items(),
            strict=False,
        ):
            lines = [
                min(1.0, float(np.sqrt(feature @ np.linalg.solve(np.diag([1.0 + n, 1.0 + n, 1.0]), feature))))
                for n in counts
            ]
            axis.plot(counts, lines, color=colour, label=label)
        axis.set(xlabel="n, times seen", ylabel="bonus  ‖φ‖ in the norm of Λ⁻¹", ylim=(0, 1.1))
        axis.legend()


def oracles() -> None:
    """The four oracles, what each solves, and how many SL calls one call is worth."""
    names = ["SL\nfit a model", "PE\nevaluate a policy", "PP\nplan a policy", "CP\nplan with constraints"]
    prices = [1, 1, 6, 2**6]
    with figure(IMAGES / "idea-oracles.png", size=(6.5, 3.4)) as axis:
        bars = axis.bar(names, prices, color=[COLOURS[2], COLOURS[2], COLOURS[4], COLOURS[1]])
        axis.bar_label(bars, ["1", "1", "H", "2^d"])
        axis.set(
            yscale="log", ylabel="SL calls for one call\n(the paper's Table 1, H = d = 6)", ylim=(0.5, 200)
        )
        axis.grid(False, axis="x")


def optimism() -> None:
    """Opt-AC with its bonus and without: the same lock, the same seed."""
    lock = optac.make_problem("combination-lock", horizon=6, actions=10)
    runs = {"with the bonus": {}, "without (alpha=0)": {"alpha": 0.0, "lam": 4e-4}}
    with figure(IMAGES / "idea-optimism.png", size=(6, 3.4)) as axis:
        for colour, (label, settings) in zip(COLOURS, runs.items(), strict=False):
            rows = optac.solve(lock, "opt-ac", iterations=150, seed=0, **settings).history
            axis.plot([r["episodes"] for r in rows], [r["last_gap"] for r in rows], color=colour, label=label)
        axis.set(xlabel="episodes played", ylabel="gap of the last policy, exact", ylim=(-0.03, 1.05))
        axis.legend()


def fourier() -> None:
    """A smooth density, and its estimates from 2d Fourier features."""
    from optac.mdp.noise import BumpNoise

    density = BumpNoise(dim=1, radius=1.0, smoothness=3)
    states = np.linspace(-1, 1, 201)[:, None]
    with figure(IMAGES / "idea-fourier.png", size=(6, 3.4)) as axis:
        axis.plot(states, density.density(states), color="0.2", linewidth=2.5, label="the density")
        for colour, size in zip(COLOURS, (8, 64, 2048), strict=False):
            features = optac.ConditionalFourierFeatures(1, frequencies=size, radius=2.0, seed=1)
            samples = density.sample(np.random.default_rng(1), size)
            axis.plot(
                states,
                features.density(samples, states),
                color=colour,
                label=f"{size} frequencies and samples",
            )
        axis.set(xlabel="next state s'", ylabel="T(s'|s,a)")
        axis.legend()


def tutorials() -> None:
    """The figures that the tutorials show, drawn by their own code."""
    drawn = {
        "paper": {"figure": "tutorial-opt-ac.png"},
        "own-mdp": {"problem": "tutorial-machine.png", "comparison": "tutorial-compare.png"},
    }
    os.chdir(tempfile.mkdtemp())
    for page, names in drawn.items():
        space: dict[str, object] = {}
        text = (DOCS / "tutorials" / f"{page}.md").read_text(encoding="utf-8")
        for example in examples(text, plans().get(f"tutorials/{page}.md", {})):
            if example.language == "python":
                exec(example.text, space)
        for name, file in names.items():
            value = space[name]
            picture = value if name == "figure" else value.plot()  # type: ignore[attr-defined]
            picture.savefig(IMAGES / file, dpi=130, metadata={"Software": None})  # type: ignore[attr-defined]


def rich() -> None:
    """One step of a lock behind distractors: by the loudest directions, by the learnt decoder, and latent by latent."""
    problem = optac.make_problem("rich-lock", horizon=6, distractors=4)
    decoders = optac.solve(problem, episodes=1500, progress=lambda row: None).model.decoders
    h = int(np.argmax(decoders.used >= 3))
    shown = problem.held_out[h]
    flat = shown.reshape(-1, problem.dim)
    loud = np.linalg.svd(flat - flat.mean(axis=0), full_matrices=False)[2][:2].T
    weights = decoders.steps[h].weights
    told = np.linalg.svd(weights - weights.mean(axis=1, keepdims=True))[0][:, :2]
    panels = {
        "by the two directions\nof most variance": loud,
        "by the two directions\nof the learnt decoder": told,
    }
    with figure(IMAGES / "idea-rich.png", 1, 3, size=(11, 3.6)) as axes:
        for axis, (title, directions) in zip(axes, panels.items(), strict=False):
            for z, (name, colour) in enumerate(zip(("A, live", "B, live", "C, dead"), COLOURS, strict=False)):
                axis.scatter(*(shown[z] @ directions).T, s=6, color=colour, label=name, alpha=0.7)
            axis.set_title(f"observations of step {h + 1}, {title}", fontsize="small")
            axis.set(xticks=[], yticks=[])
        axes[0].legend()
        grid = np.concatenate(
            [np.pad(step, ((0, 0), (0, 1))) for step in problem.confusion(decoders)[..., :4]], axis=1
        )
        axes[2].imshow(grid, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        axes[2].set_title("learnt latents (columns) beside the true ones,\nstep by step", fontsize="small")
        axes[2].set(
            yticks=range(3), yticklabels="ABC", xticks=np.arange(6) * 5 + 1.5, xticklabels=range(1, 7)
        )
        axes[2].set(xlabel="step")
        axes[2].grid(False)


if __name__ == "__main__":
    for draw in (low_rank, exploration, bonus, oracles, optimism, fourier, rich, tutorials):
        draw()
    for left_over in IMAGES.glob("idea-*.svg"):
        left_over.unlink()
