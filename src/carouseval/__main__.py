"""``python -m carouseval``."""

from carouseval.cli import main

main()
