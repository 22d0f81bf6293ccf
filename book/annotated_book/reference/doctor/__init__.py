"""The game of the doctor's page: models with a known mistake, to be told from what they do."""
