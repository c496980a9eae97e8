# May import basics, core, reading.
"""How a model is made: options, plugins, parts, training, and the state of the trained model."""
