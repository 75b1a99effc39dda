# %% [markdown]
# # For engineers: check the tables, judge tonight's pages, explain what was lost, and guard the release
#
# Files in, files out. Run it as a script, or cell by cell.

# %% Tables as a warehouse exports them
import tempfile
from pathlib import Path

import carouseval as cv
from carouseval.building.sample import write_sample

folder = Path(tempfile.mkdtemp())
files = write_sample(folder, users=500, systems=["new", "prod"], missing=0.02, ragged=True)
judgments, items = files.judgments, files.items

# %% Are they sound? Every defect is named with its line
checked = cv.check(files.layouts["new"], judgments, items)
checked.raise_for_errors()
print(checked.summary["layouts"], checked.summary["match"])

# %% The score, by device, and every page's own for the dashboard
result = cv.evaluate(files.layouts["new"], judgments, items, by="device")
print(result)
print(result.segments)
result.per_page.write_parquet(folder / "scores.parquet")

# %% What was lost, and what to do first
explanation = cv.explain(files.layouts["new"], judgments, items)
print(explanation.summary)
worst = explanation.worst.row(0, named=True)
page = explanation.page(worst["user_id"])
print(page.ideal.head(5))

# %% May it be released? Not if it is worse than what is there by more than a hundredth
comparison = cv.compare(files.layouts, judgments, items, baseline="prod", margin=0.01, permutations=2_000)
print(comparison.summary)
reason = comparison.worse("new", "prod")
print("release" if reason is None else f"hold: {reason}")
