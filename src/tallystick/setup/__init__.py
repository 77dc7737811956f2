"""Installation on a machine: agents, hooks, settings, checks, demonstration."""
