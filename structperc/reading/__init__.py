# May import basics, core.
