"""Search for the best configuration: many runs of one recipe with other values, chosen by Optuna."""
