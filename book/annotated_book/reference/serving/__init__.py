"""Page "Translation in production": its server in the page, and its chart of speed and memory."""
