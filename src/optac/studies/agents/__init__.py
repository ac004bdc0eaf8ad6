"""The agents' committed runs."""
