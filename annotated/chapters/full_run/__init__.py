"""The full WMT14 run: what its chapter shows, measures and needs."""
