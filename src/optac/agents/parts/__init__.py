"""The parts of agents: networks, the soft update, features, the bonus, replay."""
