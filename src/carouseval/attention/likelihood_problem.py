"""A form on a grid as a problem of maximum likelihood: its parameters on an unbounded scale, where searches begin."""

import numpy as np
from numpy.typing import NDArray

from carouseval.attention.fisher_scoring import Binomial, Maximum, maximise
from carouseval.attention.forms import Form, form_of
from carouseval.attention.parameters import defaults, discount_class
from carouseval.errors import DataError
from carouseval.metrics.grid import Array, Grid

FAR = 16.0  # on the unbounded scale: a share of 1e-7, or 1 - 1e-7
INSIDE = 3.0  # where searches begin at most, where they begin at values given: at a bound a slope is 0
_FAINT = 1e-8  # of the largest effect
_AT_ONCE = 2**18  # chances, 2 MB of them
STARTS = (0.8, 0.5, 0.95, 0.2)  # of shares; factors start at 0.1 over what they leave: 0.5, 0.2, 2, 0.125


class Problem:
    """A form on a grid, its parameters on an unbounded scale: log-odds of shares, logarithms of factors."""

    def __init__(self, form: Form, grid: Grid) -> None:
        self.form, self.grid = form, grid
        self.unit = np.array(form.units)

    def natural(self, at: Array) -> Array:
        """Parameters as the formula takes them."""
        with np.errstate(over="ignore"):
            return np.where(self.unit, 1 / (1 + np.exp(-at)), np.exp(at))

    def unbounded(self, values: Array) -> Array:
        share = np.clip(values, 1e-12, 1 - 1e-12)
        return np.clip(np.where(self.unit, np.log(share / (1 - share)), np.log(np.maximum(values, 1e-12))), -FAR, FAR)

    def probabilities(self, at: Array) -> Array:
        return self.form.weights(self.natural(at), self.grid).reshape(len(at), -1)

    def without_effect(self, found: Maximum) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Of one problem, parameters that no outcome depends on, and those that hardly matter where it ended."""
        sizes = np.sqrt(np.einsum("kk->k", found.information[0]))
        faint = (np.abs(found.at[0]) <= FAR - 1) & (sizes <= _FAINT * max(sizes.max(initial=0.0), 1e-300))
        idle = np.zeros_like(faint)
        for k in np.flatnonzero(faint).tolist():
            moved = np.repeat(found.at[:1], 2, axis=0)
            moved[:, k] = -2.0, 2.0
            idle[k] = np.allclose(self.probabilities(moved), found.chances[0], rtol=1e-9, atol=1e-15)
        return idle, faint & ~idle

    def settled(self, found: Maximum) -> Array:
        """The values found; what nothing depends on takes the discount's own, not where the search happened to be."""
        values: Array = self.natural(found.at)[0]
        own = defaults(discount_class(self.form.symbol))
        for k in np.flatnonzero(self.without_effect(found)[0]).tolist():
            values[k] = own.get(self.form.free[k], values[k])
        return values

    def fit(self, counts: Array, screens: Array, starts: Array | None = None) -> Maximum:
        """Problems (problems, cells), each from several starts (problems, starts, parameters), the best kept."""
        if starts is None:
            starts = self._starts(counts, screens, {})
        found = self._climb(counts, screens, starts)
        if not np.isfinite(found.value).any():
            raise DataError(
                f"{self.form.name}: its weights are no probabilities anywhere near where the search began; "
                "fit it by spearman, pearson or mse."
            )
        return found

    def _climb(self, counts: Array, screens: Array, starts: Array) -> Maximum:
        """Some problems at a time, so that memory stays bounded and what a round needs in the processor's cache."""
        tables = starts.shape[1] * (2 * starts.shape[2] + 1)  # of chances, around every start
        step = max(1, _AT_ONCE // (tables * counts.shape[1]))
        parts = (slice(begin, begin + step) for begin in range(0, len(counts), step))
        return Maximum.concatenate([self._climb_at_once(counts[some], screens[some], starts[some]) for some in parts])

    def _climb_at_once(self, counts: Array, screens: Array, starts: Array) -> Maximum:
        many = starts.shape[1]
        data = Binomial(np.repeat(counts, many, axis=0), np.repeat(screens, many, axis=0))
        bound = np.full(len(self.form.free), FAR)
        found = maximise(self.probabilities, data, starts.reshape(-1, len(bound)), -bound, bound)
        best = np.nan_to_num(found.value, nan=-np.inf).reshape(-1, many).argmax(axis=1) + many * np.arange(len(counts))
        return found.only(best)

    def _starts(self, counts: Array, screens: Array, found: dict[str, Array]) -> Array:
        """From afar, and from where smaller forms end: what contains them is then at least as likely.

        ``found`` keeps where those ended, (problems, parameters) by their names.
        """
        starts = [np.repeat(self._afar[None], len(counts), axis=0)]
        for name in self.form.contains:
            smaller = Problem(form_of(name), self.grid)
            if name not in found:
                found[name] = smaller._climb(counts, screens, smaller._starts(counts, screens, found)).at
            values = smaller.natural(found[name])
            starts += [
                self.unbounded(self.form.extended(smaller.form, values, more))[:, None]
                for more in (1e-7, 0.3)  # of what it leaves out
            ]
        return np.concatenate(starts, axis=1)

    @property
    def _afar(self) -> Array:
        spread = np.array(STARTS)[:, None]
        starts = np.where(self.unit, spread, 0.1 / (1 - spread))
        if not self.unit.all():  # factors have no natural scale: begin where others ended, too
            own = defaults(discount_class(self.form.symbol))
            starts = np.concatenate([starts, [[own.get(name, 0.5) for name in self.form.free]]])
        return self.unbounded(starts)
