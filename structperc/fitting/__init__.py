# May import basics, core, reading.
"""How a model is made: from options and plugins to parts, their training and what the model has learned."""
