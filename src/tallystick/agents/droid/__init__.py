"""Factory Droid: its transcripts."""
