"""One fit, and what it makes: `structperc.engine.engine` has the class."""
