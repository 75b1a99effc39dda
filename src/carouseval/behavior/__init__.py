"""What browsing models imply: visits, actions, utility, and how cells vary together."""

from carouseval.behavior.browsing import Browsing, browse
from carouseval.behavior.joint_examination import covariance
from carouseval.behavior.model_chains import States, chain_of
from carouseval.metrics.markov_chain import Chain

__all__ = ["Browsing", "Chain", "States", "browse", "chain_of", "covariance"]
