"""The tables of comparisons and sensitivity studies, in the form of ``evaluation/result_columns.py``."""

from carouseval.evaluation.columns import Columns
from carouseval.evaluation.result_columns import BOOLEAN, INTEGER, METRIC, NUMBER, SEGMENT, TEXT, own_names
from carouseval.evaluation.result_table import ResultColumn, ResultTable, When

_SYSTEM = ResultColumn(Columns.SYSTEM, TEXT, "the system")
SYSTEMS = ResultTable(
    "Comparison.systems",
    "a system and metric",
    (
        _SYSTEM,
        METRIC,
        ResultColumn(Columns.MEAN, NUMBER, "the mean over users"),
        ResultColumn(
            Columns.LOW,
            NUMBER,
            "where its interval begins: of users and of runs, unless runs are fixed; NaN for figures",
        ),
        ResultColumn(Columns.HIGH, NUMBER, "where it ends"),
        ResultColumn(Columns.USERS, INTEGER, "users scored in every run"),
        ResultColumn(Columns.RUNS, INTEGER, "runs of the system"),
        ResultColumn(Columns.SPREAD, NUMBER, "the standard deviation of the runs' means; null for one run"),
        ResultColumn(Columns.LEFT_OUT, INTEGER, "users left out of the mean"),
        ResultColumn(Columns.FEW_USERS, BOOLEAN, "fewer than 10 users: the interval relies on nearly normal scores"),
        ResultColumn(Columns.RELEVANT_SHOWN, NUMBER, "the share of relevant items that are shown to their users"),
        ResultColumn(Columns.JUDGED_SHARE, NUMBER, "the share of items shown that are judged"),
    ),
)

_PAIR = (METRIC, ResultColumn(Columns.BASELINE, TEXT, "the system that the other is compared with"), _SYSTEM)
_STATISTICS = (  # the fields of PairStatistics
    ResultColumn(Columns.DIFFERENCE, NUMBER, "the mean over users of the system's score minus the baseline's"),
    ResultColumn(Columns.LOW, NUMBER, "where the difference's interval begins"),
    ResultColumn(Columns.HIGH, NUMBER, "where it ends"),
    ResultColumn(Columns.ERROR, NUMBER, "the standard error of the difference"),
    ResultColumn(Columns.RUN_ERROR, NUMBER, "the part of it that more users would not take away"),
    ResultColumn(Columns.DF, NUMBER, "degrees of freedom of the error"),
    ResultColumn(Columns.RUN_DF, NUMBER, "and of the part that is due to runs; NaN where they do not vary"),
    ResultColumn(Columns.LIFT, NUMBER, "the difference over the baseline's mean; NaN if that is 0"),
    ResultColumn(Columns.LIFT_LOW, NUMBER, "where the lift's interval begins"),
    ResultColumn(Columns.LIFT_HIGH, NUMBER, "where it ends"),
    ResultColumn(Columns.EFFECT, NUMBER, "Cohen's d_z: users' mean difference over their standard deviation"),
    ResultColumn(Columns.WINS, INTEGER, "users who score higher than under the baseline"),
    ResultColumn(Columns.TIES, INTEGER, "users who score the same"),
    ResultColumn(Columns.LOSSES, INTEGER, "users who score lower"),
    ResultColumn(Columns.DETECTABLE, NUMBER, "the smallest true difference found significant with 80% power"),
    ResultColumn(Columns.USERS, INTEGER, "users scored in every run of both systems"),
    ResultColumn(Columns.FEW_USERS, BOOLEAN, "fewer than 10 users: intervals rely on nearly normal differences"),
)
_OUTCOME = (
    ResultColumn(
        Columns.BREAK_EVEN,
        NUMBER,
        "what unjudged items must gain for a difference of 0; null above 1, or where not known",
    ),
    ResultColumn(Columns.TEST, TEXT, "the significance test"),
    ResultColumn(Columns.P, NUMBER, "its p-value"),
    ResultColumn(Columns.P_ADJUSTED, NUMBER, "the p-value, corrected for all tests made"),
    ResultColumn(Columns.SIGNIFICANT, BOOLEAN, "whether the difference is significant"),
    ResultColumn(Columns.NOT_INFERIOR, BOOLEAN, "whether the system is at most the margin worse", When.MARGIN),
)
PAIRS = ResultTable("Comparison.pairs", "a pair of systems and metric", (*_PAIR, *_STATISTICS, *_OUTCOME))
SEGMENTS = ResultTable(
    "Comparison.segments", "a segment, pair of systems and metric; none without `by`", (SEGMENT, *PAIRS.columns)
)
_USER = ResultColumn(Columns.USER, None, "the user")
_WEIGHT = ResultColumn(Columns.WEIGHT, NUMBER, "the user's weight, the same in all systems", When.WEIGHT)
PER_USER = ResultTable(
    "Comparison.per_user",
    "a user and system",
    (
        _SYSTEM,
        _USER,
        ResultColumn(Columns.METRIC_SCORE, NUMBER, "the mean over runs; null unless all of them score the user"),
        _WEIGHT,
    ),
)
PLAN = ResultTable(
    "Comparison.plan(...).table",
    "a pair of systems and metric",
    (
        *_PAIR,
        ResultColumn(Columns.USERS, INTEGER, "users compared"),
        ResultColumn(Columns.DEVIATION, NUMBER, "the standard deviation of their differences, as if of equal weight"),
        ResultColumn(Columns.RUN_ERROR, NUMBER, "the standard error due to runs"),
        ResultColumn(Columns.DETECTABLE, NUMBER, "the difference detectable with these users and 80% power"),
        ResultColumn(Columns.USERS_NEEDED, INTEGER, "the users needed; null if no number is enough"),
    ),
)
SENSITIVITY = ResultTable(
    "Sensitivity.table",
    "a variation, the reference first, of all pages and of each segment",
    (
        SEGMENT,
        ResultColumn(Columns.VARIED, TEXT, "which setting is varied"),
        ResultColumn(Columns.VARIATION, TEXT, "what it is set to"),
        ResultColumn(Columns.SYSTEM_MEAN, NUMBER, "the system's mean"),
        ResultColumn(Columns.TAU, NUMBER, "Kendall's tau between this order of systems and the reference's"),
        ResultColumn(Columns.BEST, TEXT, "the best system; empty if a system has no score"),
        ResultColumn(Columns.FLIPS, TEXT, "the pairs of systems that swap places"),
    ),
)

COMPARISON_TABLES = (SYSTEMS, PAIRS, SEGMENTS, PER_USER, PLAN, SENSITIVITY)

INSIDE = ResultTable(  # of no table that people see, but of users' tables on the way there
    "", "a user, system and run", (ResultColumn(Columns.RUN, INTEGER, "the run, counted from 0"),)
)
# names that segments and systems must not have; a system may be called mean
NAMES = own_names(table for table in (*COMPARISON_TABLES, INSIDE) if table is not PLAN) - {Columns.MEAN, Columns.PAGES}
