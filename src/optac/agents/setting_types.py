"""The settings as types, for editors and type checkers: written by `scripts/setting_types.py`, not by hand.

Each is defined once, in `agents/settings.py` or in the agent's own file.
"""

from typing import Literal, TypedDict


class AgentSettingTypes(TypedDict, total=False):
    """Settings of every agent."""

    preset: str
    """which set of defaults the others start from"""
    learning_starts: int
    """uniformly random steps before the first update"""
    batch_size: int
    """transitions in one update"""
    width: int
    """units of every hidden layer"""
    critics: int
    """critics whose minimum is used"""
    discount: float
    """γ"""
    learning_rate: float
    """Adam's step size for actor, critics and temperature"""
    target_rate: float
    """how far a target network moves towards its network"""
    target_every: int
    """updates between two moves of the target networks"""
    n_step: int
    """steps whose rewards a target has before the value takes over"""
    actor_every: int
    """updates of the critics for one of actor and temperature"""
    delay_ends: int | None
    """step from which actor and temperature move at every update; None means never"""
    normalise: bool
    """standardise observations by their running moments, for every network"""
    layer_norm: bool
    """standardise the hidden layers of the critics over their units"""
    value_scale: bool
    """let critics learn values in units of the returns' running deviation"""
    huber_loss: bool
    """count a critic's errors beyond five times the batch's median linearly, but where the MDP ended"""
    return_bound: bool
    """bound what a next state is worth by the largest running return G ← γG + r seen"""
    initial_temperature: float
    """α at the start"""
    target_entropy: float | None
    """H; None means −dim(A)"""
    uniform_probability: float
    """probability of a uniformly random action after the start"""
    replay_capacity: int
    """transitions kept"""
    updates_per_dispatch: int
    """steps taken, then as many updates in one compiled call"""
    eval_every: int
    """steps between evaluations; 0 means never"""
    eval_episodes: int
    """episodes of one evaluation"""
    eval_max_steps: int | None
    """steps after which an evaluation's episode is cut off; None: the time limit, or 10,000"""
    checkpoint_every: int
    """steps between checkpoints"""
    step_timeout: float
    """seconds that one step of the environment may take; 0 means any"""
    log_every: int
    """steps between rows of metrics"""


class FeatureSettingTypes(AgentSettingTypes, total=False):
    """And those of cRFFSAC."""

    feature_width: int
    """dimension of φ; its hidden layer has `width` units or twice this, whichever is less"""
    own_features: bool
    """give every critic a φ of its own, with errors of its own"""
    feature_steps: int
    """steps of φ, each on a fresh batch, in one update"""
    early_features: bool
    """let φ learn in the random start too, from the first full batch on"""
    feature_learning_rate: float
    """Adam's step size for φ and M"""
    feature_copy_rate: float
    """how far the critic's copy of φ moves to φ"""
    predict_change: bool
    """let φ predict s' − s, in units of its size over the batch, not s'"""
    feature_norm: bool
    """standardise both layers of φ over their units, so that φ is bounded"""
    raw_input: bool
    """let the critic on φ see (s, a) beside it"""
    head_layers: int
    """hidden layers of the critic on φ"""
    head: Literal["mlp", "fourier"]
    """critic on φ: 'mlp', or 'fourier', linear on fixed cos(Wφ + b)"""
    fourier_bandwidth: float
    """standard deviation of Wφ per unit of φ's rms"""
    bonus_scale: float
    """largest bonus, in the unit that bonus_unit names"""
    bonus_unit: Literal["one", "deviation"]
    """'one', as rewards are counted, or 'deviation', the standard deviation of those seen"""
    bonus_copy: bool
    """give the bonus φ as it was when Λ was built, not the critics' copy"""
    bonus_alpha: float
    """α in min(α‖φ‖_Λ⁻¹, 1)"""
    bonus_lambda: float
    """λ in Λ = λI + Σφφᵀ"""
    bonus_every: int
    """steps between two rebuildings of Λ"""
    bonus_samples: int
    """transitions Λ is rebuilt from, scaled to all"""
