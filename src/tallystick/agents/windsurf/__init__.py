"""Windsurf: its transcripts."""
