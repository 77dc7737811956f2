"""Sessions: questions about one session, or about how sessions hang together, as pure functions of recorded steps."""
