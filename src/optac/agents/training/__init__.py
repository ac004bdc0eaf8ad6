"""Training an agent: the learner, the loop, evaluations, checkpoints."""
