"""How dense the code is and how its modules depend on each other: `make metrics`, `make metrics REF=<commit>`.

Owns the measures of docs/quality.md, each with its exact definition. Must not judge: aims are written beside the figures.
"""
