"""Reading runs, statistics, figures and the page: runs nothing, loads no algorithm, no agent and no JAX."""
