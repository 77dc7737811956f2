"""Decisions on calls, with the facts of the machine and of the record."""
