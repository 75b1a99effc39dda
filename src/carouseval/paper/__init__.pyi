from carouseval.paper.simulation import Study as Study
from carouseval.paper.simulation import simulate as simulate
