import numpy as np
import pytest
from homogeneous import HomogeneousClass

import optac
from optac.testing import MODEL_CLASS_CHECKS

RIVER = optac.make_problem("river-swim", horizon=10)


@pytest.mark.parametrize("check", MODEL_CLASS_CHECKS)
def test_conforms(check) -> None:
    check(HomogeneousClass(RIVER), RIVER)


def test_its_model_is_nearer_since_all_steps_share_their_data() -> None:
    classes = "simplex", HomogeneousClass(RIVER)
    models = [optac.solve(RIVER, iterations=20, model_class=one).model for one in classes]
    apart, together = (np.abs(model.transitions - RIVER.transitions).mean() for model in models)
    assert together < 0.3 * apart
