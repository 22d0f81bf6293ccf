"""Sandbox: a process for strangers' code, what it may see, and the values that travel to and from it."""
