from carouseval.behavior.browsing import Browsing as Browsing
from carouseval.behavior.browsing import browse as browse
from carouseval.behavior.browsing import chain_of as chain_of
from carouseval.metrics.browsing.chain import Chain as Chain
from carouseval.metrics.browsing.states import States as States
