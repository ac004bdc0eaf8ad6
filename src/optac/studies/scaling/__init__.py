"""How episodes to ε grow with d, H, |A| and 1/ε."""
