"""What browsing models imply: the looks, actions and gains of users, and the Markov chains behind them."""

from carouseval.behavior.browsing import Browsing, browse
from carouseval.behavior.model_chains import States, chain_of
from carouseval.metrics.markov_chain import Chain

__all__ = ["Browsing", "Chain", "States", "browse", "chain_of"]
