"""The index of a store, `graph.db`: a projection of the journals, and the questions that read it. Only here is SQL."""
