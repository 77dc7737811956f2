"""A store as it is opened: its settings, names, ledger, and the index kept in step with its journals."""
