"""Recording of our own networks."""
