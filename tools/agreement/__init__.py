"""Whether the record says of agents' transcripts what an independent reader finds in them."""
