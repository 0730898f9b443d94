"""Tasks: what a network is trained for. One file each, found by name: examples, batches, loss and scores."""
