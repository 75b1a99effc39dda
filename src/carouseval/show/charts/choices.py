"""What charts can be chosen from: themes, and the kinds of chart of each result that has several, its default first."""

from typing import Literal, TypeAlias

Theme: TypeAlias = Literal["light", "dark"]

EvaluationChart: TypeAlias = Literal["distribution", "means"]
ComparisonChart: TypeAlias = Literal["differences", "systems", "users"]
ExplanationChart: TypeAlias = Literal["waterfall", "losses", "gains", "page"]
PageScoreChart: TypeAlias = Literal["page", "weights"]
FitChart: TypeAlias = Literal["fit", "weights"]
PaperFigure: TypeAlias = Literal["figure2", "figure1", "agreement", "examination", "discounts", "ceiling", "fit"]
