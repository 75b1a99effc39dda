# %% [markdown]
# # For engineers: check the tables, evaluate tonight's pages, explain what was lost, and gate the release
#
# Files in, files out. Run it as a script, or cell by cell.

# %% Tables as exported from a data warehouse
import tempfile
from pathlib import Path

import carouseval as cv

folder = Path(tempfile.mkdtemp())
files = cv.building.write_sample(folder, users=500, systems=["new", "prod"], missing=0.02, ragged=True)
judgments, items = files.judgments, files.items

# %% Check the data: every defect is reported with its line
checked = cv.check(files.layouts["new"], judgments, items)
checked.raise_for_errors()
print(checked.summary["layouts"], checked.summary["match"])

# %% The score, also by device, and the score of every page for the dashboard
result = cv.evaluate(files.layouts["new"], judgments, items, by="device")
print(result)
print(result.segments)
result.per_page.write_parquet(folder / "scores.parquet")

# %% What was lost, and which page to look at first
explanation = cv.explain(files.layouts["new"], judgments, items)
print(explanation.summary)
worst = explanation.worst.row(0, named=True)
page = explanation.page(worst["user_id"])
print(page.ideal.head(5))

# %% Release? Not if the new system may be worse than production by more than 0.01
comparison = cv.compare(files.layouts, judgments, items, baseline="prod", margin=0.01, permutations=2_000)
print(comparison.summary)
reason = comparison.worse("new", "prod")
print("release" if reason is None else f"hold: {reason}")
