"""goose: its transcripts."""
