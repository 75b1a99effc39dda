# %% [markdown]
# # For researchers: is the new recommender better, by a metric that follows where people look?
#
# Five synthetic systems whose order is known, evaluated with N2DCG_cat (Kang et al., CIKM '26).
# Run it as a script, or cell by cell.

# %% Tables: what is shown, what is relevant, which item belongs to which categories
import carouseval as cv

data = cv.sample(users=500, seed=1)
print(data.layouts["new"].head(3))
print(data.judgments.head(3))
print(data.items.head(3))

# %% One system, several metrics: the paper's, a cutoff, the original, and a list metric
metrics = ["N2DCG_cat", "N2DCG_cat@3x5", "N2DCG", "NDCG@10"]
result = cv.evaluate(data.layouts["new"], data.judgments, data.items, metrics=metrics)
print(result.to_markdown())
print(result.counts)

# %% All systems, with tests corrected for the number of pairs
comparison = cv.compare(data.layouts, data.judgments, data.items, seed=7, permutations=2_000)
print(comparison.summary)
print(comparison.pairs.select("system", "baseline", "difference", "low", "high", "p_adjusted", "significant"))
print(comparison.to_latex())

# %% Does the order of the systems depend on the settings of the metric?
varied = cv.sensitivity(data.layouts, data.judgments, data.items)
print(varied.summary)
print(varied.table.select("varied", "variation", *varied.systems, "tau"))

# %% The evidence behind the discount: how often people looked at each cell
counts = cv.attention.recgaze_counts("amsterdam")
print(counts.frequencies.round(2)[:3])
