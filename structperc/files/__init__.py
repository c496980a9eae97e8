# May import basics, reading.
