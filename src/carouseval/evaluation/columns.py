"""The names of columns, of tables that are given and of results: each is written once, here."""


class Columns:
    """What columns are called.

    A name with ``{metric}`` stands for a column by each metric (:func:`of_metric`); ``{segment}`` and ``{system}``
    stand for columns that are called like the segments (``by``) and the systems.
    """

    # of tables that are given
    USER, PAGE, ITEM, CATEGORY = "user_id", "page_id", "item_id", "category"
    ROW, COL, PINNED = "row", "col", "pinned"
    RELEVANCE, SCORE, WEIGHT = "relevance", "score", "weight"
    CAPACITY, PERSONAL, CAROUSEL = "capacity", "personal", "carousel"
    EVENT, TIME = "event", "time"
    TITLE, POSTER = "title", "poster"

    # one each
    SEGMENT, METRIC_SCORE, SYSTEM_MEAN = "{segment}", "{metric}", "{system}"
    METRIC_DCG, METRIC_IDEAL = "{metric}.dcg", "{metric}.ideal"
    METRIC_IDEAL_FOUND, METRIC_BOUNDED = "{metric}.ideal_found", "{metric}.bounded"
    METRIC_LOW, METRIC_HIGH = "{metric}.low", "{metric}.high"
    METRIC_WEIGHT, METRIC_PAGES = "{metric}.weight", "{metric}.pages"
    METRIC_UNJUDGED_GAIN = "{metric}.unjudged_gain"

    # of pages and users
    STATUS, DUPLICATES, UNJUDGED, INVALID = "status", "duplicates", "unjudged", "invalid"
    PAGES, USERS = "pages", "users"

    # of means and losses
    METRIC, MEAN, LOW, HIGH = "metric", "mean", "low", "high"
    DCG, IDEAL, LOST = "dcg", "ideal", "lost"
    ITEM_ORDER, ROW_ORDER, CHOICE = "item_order", "row_order", "choice"
    MISSING, NOTHING_TO_SHOW = "missing", "nothing_to_show"
    LOSS, GAIN, IDEAL_GAIN = "loss", "gain", "ideal_gain"

    # of systems
    SYSTEM, RUN, RUNS, SPREAD = "system", "run", "runs", "spread"
    LEFT_OUT, FEW_USERS = "left_out", "few_users"
    RELEVANT_SHOWN, JUDGED_SHARE = "relevant_shown", "judged_share"

    # of pairs of systems
    BASELINE, DIFFERENCE = "baseline", "difference"
    ERROR, RUN_ERROR, DF, RUN_DF = "error", "run_error", "df", "run_df"
    LIFT, LIFT_LOW, LIFT_HIGH, EFFECT = "lift", "lift_low", "lift_high", "effect"
    WINS, TIES, LOSSES = "wins", "ties", "losses"
    DETECTABLE, BREAK_EVEN = "detectable", "break_even"
    TEST, P, P_ADJUSTED = "test", "p", "p_adjusted"
    SIGNIFICANT, NOT_INFERIOR = "significant", "not_inferior"
    DEVIATION, USERS_NEEDED = "deviation", "users_needed"

    # of variations
    VARIED, VARIATION, TAU, BEST, FLIPS = "varied", "variation", "tau", "best", "flips"


def of_metric(column: str, metric: str) -> str:
    """The name of a column by a metric.

    >>> of_metric(Columns.METRIC_IDEAL, "N2DCG")
    'N2DCG.ideal'
    """
    return column.replace(Columns.METRIC_SCORE, metric)
