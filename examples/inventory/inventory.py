"""Stock control: order goods, then meet a random demand from the shelf; what is left over costs to keep."""

import numpy as np

from optac.extend import InvalidInput, LowRankMDP


def inventory(
    *, capacity: int = 5, horizon: int = 8, holding_cost: float = 0.1, price: float = 1.0, seed: int = 0
) -> LowRankMDP:
    """A shelf for `capacity` goods; the state is the stock, the action how many to order, the demand drawn by seed."""
    if capacity < 1 or horizon < 1:
        raise InvalidInput(f"capacity={capacity} and horizon={horizon} must be at least 1")
    if not 0 <= holding_cost <= price or price == 0:
        raise InvalidInput(
            f"holding_cost={holding_cost} must be between 0 and price={price}, which is above 0"
        )
    size = capacity + 1
    demand = np.random.default_rng(seed).dirichlet(np.ones(size))
    stock, order, wanted = np.indices((size, size, size))
    shelf = np.minimum(stock + order, capacity)
    left = np.maximum(shelf - wanted, 0)
    profit = ((price * (shelf - left) - holding_cost * left) * demand).sum(axis=-1)
    least, most = -holding_cost * capacity, price * capacity
    table = np.zeros((size, size, size))
    np.add.at(table, (stock, order, left), np.broadcast_to(demand, table.shape))
    return LowRankMDP(
        np.broadcast_to(table, (horizon, *table.shape)),
        np.broadcast_to(np.eye(size), (horizon, size, size)),
        np.broadcast_to((profit - least) / (most - least), (horizon, size, size)),
        name="inventory",
        parameters={
            "capacity": capacity,
            "horizon": horizon,
            "holding_cost": holding_cost,
            "price": price,
            "seed": seed,
        },
        reward_scale=most - least,
        reward_offset=least,
    )
