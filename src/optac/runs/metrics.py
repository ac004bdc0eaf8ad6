"""What every metric means: the keys of a training's rows and of a solve's, as the documentation has them."""

from collections.abc import Mapping

TRAINING: Mapping[str, str] = {
    "time/total_timesteps": "steps in the environment so far; every row has it",
    "time/fps": "steps per second since the row before",
    "rollout/ep_rew_mean": "mean return of the last hundred episodes played while training",
    "rollout/ep_len_mean": "mean length of the last hundred episodes played while training",
    "eval/mean_reward": "undiscounted return of the deterministic policy, mean over `eval_episodes`, no bonus in it",
    "eval/std_reward": "its spread over those episodes (ddof 0)",
    "eval/mean_ep_length": "their mean length",
    "train/critic_loss": "TD errors squared, the largest counted linearly with `huber_loss` and in td7sac, summed "
    "over the critics, in units of the returns with `value_scale`",
    "train/actor_loss": "mean of α log π(a given s) − min Q(s, a)",
    "train/ent_coef": "the temperature α",
    "train/entropy": "mean of −log π(a given s), actions in [−1, 1]",
    "train/q_mean": "mean of the critics' values on the batch",
    "train/feature_loss": "cRFFSAC: mean of ‖M φ(s, a) − y‖² / dim(s), y the standardised s', or s' − s with "
    "`predict_change`; td7sac: of ‖z_sa − z_s'‖² / dim(z)",
    "train/bonus_mean": "cRFFSAC: mean of min(α‖φ‖_Λ⁻¹, 1) on the batch, before it is scaled to the reward; else 0",
    "train/value_error": "mean of Q(s, a) less what followed: up to 200 rewards, and Q then; 256 recent transitions; "
    "not with a bonus",
    "train/clipped": "share of numbers in their observations that standardising cut off",
    "train/feature_size": "cRFFSAC: mean of ‖φ(s, a)‖ over them",
    "train/feature_rank": "cRFFSAC: (Σσ²)²/Σσ⁴ of their φ, the number of directions that it uses",
}
SOLVE: Mapping[str, str] = {
    "iteration": "the outer round, from 1",
    "episodes": "episodes played so far",
    "gap": "exact gap of the mixture; None before a reward-free algorithm's end",
    "last_gap": "exact gap of the last policy; None before a reward-free algorithm's end",
    "bill": "calls of SL, PE, PP and CP so far, and the tightest accuracy asked for",
    "seconds": "seconds so far; in a file `time/seconds`, for what a clock said stands under `time/` there",
    "log_likelihood": "of the data under the fitted model, summed over steps",
    "mean_bonus": "mean of the bonus over steps, states and actions",
    "optimistic_value": "the value of the policy evaluated or planned, in the model, with reward and bonus",
    "planned_value": "the value of the planned policy in the fitted table",
    "error_bound": "RAFFLE: V̂_1, which bounds the model's error and stands at 1 until the first steps are known",
    "layer": "the step h that the round was about",
    "feature_gap": "what the best discriminator still gains against the chosen feature",
    "adversarial_rounds": "rounds of min-max feature selection",
    "rounds_capped": "whether their cap ended them",
    "planner_steps": "steps of the elliptical planner",
    "planner_capped": "whether its cap ended the planner, with directions left uncovered",
    "spanner_swaps": "swaps of the barycentric spanner",
    "spanner_rank": "columns of the spanner that are more than their nudge",
    "spanner_capped": "whether its cap ended the spanner",
}
