"""What agents are made of: networks, the soft update, features, the bonus, replay."""
