"""Results: sections 6 and 7, and what came after."""
