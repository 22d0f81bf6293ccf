"""The rest of the machine: sections 3.1 and 3.3 to 3.5."""
