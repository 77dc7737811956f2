"""One delivery of an agent's hook: understood, decided, recorded, answered."""
