"""The report of the ablations compares with the default over the same steps."""

from pathlib import Path
from typing import Any

from optac.runs.folder import RunFolder
from optac.studies.agents.ablations import write_ablations


def make_run(folder: Path, seed: int, returns: list[float], **settings: Any) -> None:
    config = {
        "agent": "crffsac",
        "environment": "optac/Hopper-v0",
        "seed": seed,
        "steps": 10 * len(returns),
        "settings": {"batch_size": 128, "bonus": False, **settings},
    }
    run = RunFolder.create(folder / f"{'-'.join(map(str, settings.values()))}-{seed}", config)
    for i, value in enumerate(returns):
        run.append({"time/total_timesteps": 10 * (i + 1), "eval/mean_reward": value})


def test_a_variant_is_named_by_its_settings_and_the_default_is_read_as_far_as_it_went(tmp_path: Path) -> None:
    defaults, ablated = tmp_path / "agents", tmp_path / "ablations"
    make_run(defaults, 0, [0.0, 3.0, 6.0, 9.0, 900.0])
    make_run(ablated, 1, [2.0, 2.0, 2.0, 2.0], batch_size=256)
    make_run(ablated, 0, [0.0, 4.0, 4.0, 4.0], batch_size=256)
    lines = write_ablations(ablated, defaults).read_text().splitlines()
    assert "| crffsac | the default | 0 | 6 | 6 | 4 |" in lines
    assert "| crffsac | batch_size=256 | 0, 1 | 4, 2 | 3 | 2 |" in lines
    assert all((ablated / f"Hopper-v0-crffsac.{kind}").exists() for kind in ("png", "svg"))
