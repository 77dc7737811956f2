"""Helpers that several readers of transcripts share."""
