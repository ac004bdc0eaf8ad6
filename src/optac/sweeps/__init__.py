"""Many runs: the plan, the launcher, workers and their executors."""
