"""Sessions after the fact: lists, trees, replay, differences, drift, provenance, export."""
