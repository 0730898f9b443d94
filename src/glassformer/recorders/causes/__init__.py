"""What a network does because of its parts: outcomes of a pass, and sweeps of edits over it."""
