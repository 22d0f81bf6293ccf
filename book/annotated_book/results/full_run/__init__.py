"""Chapter 33, "The full WMT14 run": its pictures, its calculator and its experiments."""
