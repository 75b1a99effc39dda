from carouseval.paper.study import Study as Study
from carouseval.paper.simulation import simulate as simulate
