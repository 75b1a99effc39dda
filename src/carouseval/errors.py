"""What can be wrong with input, each a type of its own; all are ``ValueError`` too."""


class CarousevalError(ValueError):
    """Anything a caller can put right: the message says what, where, what was found and what to do."""


class DataError(CarousevalError):
    """Relevances, tables or files that cannot be scored."""


class ParseError(CarousevalError):
    """A metric, discount or cutoff that does not read."""


class ParameterError(CarousevalError):
    """An argument outside its range."""


class DataWarning(UserWarning):
    """Data that was scored, but that somebody should look at."""
