"""Amp: its transcripts."""
