"""Chapter 28, "Table 3": the rows scaled down, and the runs that measure them."""
