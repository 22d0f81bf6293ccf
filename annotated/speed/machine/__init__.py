"""The machine: its devices and their drivers, the tools of its compiler, and the processes that train together."""
