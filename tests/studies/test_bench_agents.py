"""The bench's figures are ratios within a round, and its contenders train on demand."""

import os

import pytest

from optac.errors import InvalidInput, RunFailed
from optac.studies.bench.agents import contender, measure, rate, ratios, show
from optac.studies.bench.contender import _agent

SGEMM = 1e9


def answers(*rates):
    return [{"steps": 100, "seconds": 100 / r, "sgemm_flops_per_second": SGEMM} for r in rates]


# In the second round the machine ran at half speed for everybody.
ROUNDS = {
    "sac": answers(100, 50, 100),
    "crffsac": answers(80, 40, 80),
    "crffsac-bonus": answers(76, 38, 76),
    "sac-default": answers(120, 60, 110),
    "sb3": answers(50, 25, 40),
    "sbx": answers(80, 40, 80),
    "sbx-10": answers(90, 45, 90),
}
FACTS = {
    "sac": {"flops_per_update": 6_000_000},
    "crffsac": {"flops_per_update": 7_200_000},
    "crffsac-bonus": {"flops_per_update": 7_500_000},
    "sac-default": {"flops_per_update": 5_000_000},
}


def test_ratios_by_hand():
    by_hand = {
        "sac over Stable-Baselines3": [2.0, 2.0, 2.5],
        "sac over SBX": [1.25] * 3,
        "sac over SBX with ten updates per dispatch": [100 / 90] * 3,
        "sac, default over plain": [1.2, 1.2, 1.1],
        "crffsac over sac": [0.8] * 3,
        "crffsac over sac, of what flops allow": [0.8 / (6.0 / 7.2)] * 3,
        "crffsac-bonus over crffsac": [0.95] * 3,
        "sac over sgemm's limit": [0.6, 0.3, 0.6],
        "crffsac over sgemm's limit": [80 * 7.2e6 / SGEMM, 40 * 7.2e6 / SGEMM, 80 * 7.2e6 / SGEMM],
        "crffsac-bonus over sgemm's limit": [76 * 7.5e6 / SGEMM, 38 * 7.5e6 / SGEMM, 76 * 7.5e6 / SGEMM],
        "sac-default over sgemm's limit": [0.6, 0.3, 0.55],
    }
    found = ratios(ROUNDS, FACTS)
    assert list(found) == list(by_hand)
    assert all(found[name] == pytest.approx(by_hand[name]) for name in found)


def test_like_is_held_against_like():
    """The preset whose update does what the peers' does; the default one under its own name."""
    plain, default = (_agent(name, "Pendulum-v1", 300).settings for name in ("crffsac", "crffsac-default"))
    assert (plain.preset, plain.actor_every, plain.feature_steps) == ("plain", 1, 1)
    assert not plain.normalise and plain.feature_width == plain.width
    assert default == type(default)(
        **{"batch_size": 256, "width": 256, "eval_every": 0, "learning_starts": 100}
    )


def test_a_peer_that_is_not_installed_gives_no_ratio():
    found = ratios({"sac": ROUNDS["sac"]}, FACTS)
    assert list(found) == ["sac over sgemm's limit"]


def test_the_table_shows_measured_and_aim(capsys):
    measured = {
        "task": {"environment": "E-v1", "batch_size": 256, "width": 256, "updates_per_step": 1},
        "rounds": 3,
        "steps": 100,
        "answers": ROUNDS,
        "ratios": ratios(ROUNDS, FACTS) | {"two runs on two cores over one": [1.9, 1.8, 2.0]},
        "missing": [],
    }
    show(measured)
    lines = [line.split("  ") for line in capsys.readouterr().out.splitlines()]
    shown = [[word.strip() for word in line if word] for line in lines]
    assert ["Stable-Baselines3 SAC", "40.0 (25.0–50.0)"] in shown
    assert ["sac over Stable-Baselines3", "2.00 (2.00–2.50)", "≥ 1.8"] in shown
    assert ["two runs on two cores over one", "1.90 (1.80–2.00)", "≥ 1.8"] in shown


@pytest.mark.parametrize("wrong", [{"agents": ["crffsac"]}, {"rounds": 0}, {"steps": 0}])
def test_a_bench_without_its_yardstick_is_refused(wrong):
    with pytest.raises(InvalidInput, match="compares with `sac`"):
        measure(**wrong)


@pytest.mark.slow
def test_a_contender_trains_for_as_many_steps_as_it_is_told():
    with contender("sac", core=min(os.sched_getaffinity(0))) as sac:
        # 4 passes of the actor, 12 of a critic, less the gradient of the first layers' inputs that nobody needs.
        actor, critic = 17 * 256 + 256**2 + 256 * 12, 23 * 256 + 256**2 + 256
        unneeded = 2 * 23 * 256 + 17 * 256
        assert sac.facts["flops_per_update"] == 2 * 256 * (4 * actor + 12 * critic - unneeded)
        assert sac.facts["replay_bytes"] == 1_000_000 * 4 * (17 + 6 + 1 + 17 + 1)
        said = [sac.train(10), sac.train(20)]
    assert [answer["steps"] for answer in said] == [10, 20]
    assert all(rate(answer) > 0 and answer["sgemm_flops_per_second"] > 0 for answer in said)
    assert sac.process.returncode == 0


def test_a_contender_that_dies_is_reported_with_its_last_words():
    nobody = contender("nobody", core=min(os.sched_getaffinity(0)))
    with pytest.raises(RunFailed, match=r"(?s)nobody ended with exit code 1.*unknown agent"), nobody:
        pass
