"""The oracles SL, PE, PP and CP; each returns its answer together with its bill, and nothing is counted globally."""

from optac.oracles.bill import Bill
from optac.oracles.constrained import ConstrainedPlan, constrained_plan, parameter_net
from optac.oracles.evaluation import Evaluation, evaluate, evaluate_by_regression
from optac.oracles.planning import Plan, plan, plan_by_regression
from optac.oracles.supervised import ModelClass, maximum_likelihood

__all__ = [
    "Bill",
    "ConstrainedPlan",
    "Evaluation",
    "ModelClass",
    "Plan",
    "constrained_plan",
    "evaluate",
    "evaluate_by_regression",
    "maximum_likelihood",
    "parameter_net",
    "plan",
    "plan_by_regression",
]
