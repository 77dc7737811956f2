"""The values every other package speaks in. Frozen, typed, and free of I/O."""
