"""What a session runs under: declared, gathered, recorded."""
