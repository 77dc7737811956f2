"""Finding and reading what agents leave on disk. Yields steps; records nothing."""
