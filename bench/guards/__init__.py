"""Other guards of coding agents, and this one, held against the same cases through their own hooks."""
