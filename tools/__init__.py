"""Programs for the developers of this project: they check it, measure it and package it, and are in no wheel."""
