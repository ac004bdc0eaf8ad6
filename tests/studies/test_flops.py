"""Matrix products are counted as their definition says."""

import jax
import jax.numpy as jnp
import pytest

from optac.agents.agent import Agent
from optac.studies.bench.contender import flops_per_update, matmul_flops, sgemm_flops_per_second

A, B = jnp.ones((3, 5)), jnp.ones((5, 7))


def test_a_product_costs_two_operations_for_each_of_mnk():
    assert matmul_flops(lambda a, b: a @ b + 1.0, A, B) == 2 * 3 * 5 * 7


def test_a_stack_of_products_costs_its_sum():
    assert matmul_flops(jax.vmap(jnp.matmul), jnp.ones((4, 3, 5)), jnp.ones((4, 5, 7))) == 4 * 2 * 3 * 5 * 7


def test_a_gradient_costs_the_two_products_of_the_chain_rule():
    def loss(a, b):
        return jnp.sum((a @ b) ** 2)

    assert matmul_flops(jax.grad(loss, argnums=(0, 1)), A, B) == 3 * 2 * 3 * 5 * 7


def test_a_scan_counts_each_pass_and_a_while_loop_its_body_once():
    square = jnp.ones((4, 4))

    def scanned(x):
        return jax.lax.scan(lambda c, _: (c @ x, None), x, length=6)[0]

    def until(x, count):
        return jax.lax.fori_loop(0, count, lambda i, c: c @ x, x)

    assert matmul_flops(scanned, square) == 6 * 2 * 4**3
    assert matmul_flops(jax.jit(until), square, 9) == 2 * 4**3


def test_of_a_choice_the_dearest_branch_counts():
    def choose(x, yes):
        return jax.lax.cond(yes, lambda c: c @ c @ c, lambda c: c @ c, x)

    assert matmul_flops(choose, jnp.ones((4, 4)), True) == 2 * 2 * 4**3


@pytest.mark.parametrize("every", [1, 2])
def test_an_update_of_sac_costs_the_products_that_its_page_counts(every):
    """Nine of B × w by w × w and seven where it is the actor's turn, and the thin ones at the networks' ends."""
    b, w, obs, act = 8, 32, 3, 1
    sizes = {"batch_size": b, "width": w, "actor_every": every}
    agent = Agent("Pendulum-v1", agent="sac", seed=0, learning_starts=10, eval_every=0, **sizes)
    agent.learn(20)
    critics = 2 * (obs + act + 1)  # both critics' ends, passed forwards
    actor = obs + 2 * act
    # Q̄(s', a'), a'; Q(s, a) and its gradients
    always = 9 * w + critics + actor + (2 * critics + 2 * 1)
    # π(s) and its gradients; Q(s, π(s)) and back to its input
    in_turn = 7 * w + (2 * actor + 2 * act) + critics + 2 * (1 + obs + act)
    assert flops_per_update(agent._learner) == 2 * b * w * (always + in_turn / every)


def test_sgemm_rate_is_that_of_a_machine_of_this_century():
    assert 1e8 < sgemm_flops_per_second(size=64, seconds=0.02) < 1e14
