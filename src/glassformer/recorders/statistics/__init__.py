"""Statistics of attention without the n×n matrix, on CPU and GPU."""
