"""Training and trained models. The class `Engine` is in `structperc.engine.engine`."""
