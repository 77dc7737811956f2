"""Commands on rules and what they found."""
