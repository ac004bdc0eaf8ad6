"""The paper's Table 2 beside ours."""
