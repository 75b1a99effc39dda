from carouseval.paper.simulation import simulate as simulate
from carouseval.paper.study import Study as Study
