"""The paper's Table 1, measured."""
