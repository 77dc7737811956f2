"""Recording: from events to sealed steps, by whichever way they come."""
