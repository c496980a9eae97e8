# May import basics, core, files, fitting, metrics, pages, pictures, reading.
"""Training and trained models. The class `Engine` is in `structperc.engine.engine`."""
