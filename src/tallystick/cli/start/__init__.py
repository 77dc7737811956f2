"""Commands that begin: a store, a demonstration, settings, checks."""
