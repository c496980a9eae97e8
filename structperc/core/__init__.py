# May import basics, pictures.
