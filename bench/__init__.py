"""Measurements: `make bench`. Figures are ratios against a baseline of the same run, because machines differ and drift."""
