"""The examples run, and show what they say."""

import re
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_fourier_example_recovers_a_density_and_comes_within_five_percent(tmp_path) -> None:
    figure = tmp_path / "figure.png"
    command = [sys.executable, str(EXAMPLES / "fourier_features.py"), str(figure)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    errors = [float(error) for error in re.findall(r"W = 2: (\d\.\d+)", said)]
    assert len(errors) == 3 and errors[0] > errors[1] > errors[2] < 0.1
    assert "mixture: " in said and "not within" not in said
    assert figure.stat().st_size > 10_000
