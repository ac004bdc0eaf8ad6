"""Write what the pages and README.md show of two studies of trainings: exploration, and the recipe's ingredients.

    python -m scripts.training_pages results

`make agent-runs` does it too.
"""

import sys
from collections import Counter
from pathlib import Path

from optac.report.statistics import SEEDS_NEEDED
from optac.studies import agent_ablations, exploration
from optac.studies.agent_ablations.report import TABLE as INGREDIENTS
from optac.studies.agent_ablations.report import effects_markdown
from optac.studies.exploration.report import TABLE as FOUND
from optac.studies.exploration.report import dense_markdown, short_markdown
from optac.studies.one_table import OneTable
from optac.studies.published_runs import missing_runs
from optac.studies.study import TrainingStudy
from optac.studies.table2.report import read_cells
from scripts.marked import write_parts

STUDIES: tuple[tuple[TrainingStudy, OneTable], ...] = (
    (exploration.STUDY, FOUND),
    (agent_ablations.STUDY, INGREDIENTS),
)


def write_pages(results: Path, root: Path) -> list[Path]:
    """Each study's page: how many runs are in, its table and more; and exploration's lines in the readme."""
    pages = []
    cells = [cell for line in read_cells(results / "table2") for cell in line]
    ablated = INGREDIENTS.groups(results / agent_ablations.STUDY.folder)
    more = {
        exploration.STUDY: {"dense": dense_markdown([cell.group for cell in cells if cell.group])},
        agent_ablations.STUDY: {"effects": effects_markdown(ablated)},
    }
    for study, table in STUDIES:
        folder = results / study.folder
        parts = {
            "standing": standing(study, folder),
            "table": table.markdown(folder),
            **more.get(study, {}),
        }
        pages.append(write_parts(root / "docs" / "results" / f"{study.name}.md", parts))
    folder = results / exploration.STUDY.folder
    short = f"{standing(exploration.STUDY, folder)}\n\n{short_markdown(FOUND.groups(folder))}"
    return [*pages, write_parts(root / "README.md", {"exploration": short})]


def standing(study: TrainingStudy, folder: Path) -> str:
    """How many of the study's runs are in, the command that makes the rest, and whether the seeds are too few."""
    sweep = study.sweep()
    missing = set(missing_runs(sweep, folder))
    there = Counter(run.id.rpartition("-s")[0] for run in sweep.runs if run.id not in missing)
    enough = there and min(there.values()) >= SEEDS_NEEDED
    few = (
        ""
        if enough
        else f" Where fewer than {SEEDS_NEEDED} seeds are in, they are too few to tell small effects."
    )
    if not missing:
        return f"All {len(sweep.runs)} runs are in.{few}"
    done = len(sweep.runs) - len(missing)
    return f"{done} of {len(sweep.runs)} runs are in; `optac reproduce {study.name}` makes the rest.{few}"


if __name__ == "__main__":
    print(*write_pages(Path(sys.argv[1]), Path(__file__).parents[1]), sep="\n")
