"""Weights from elsewhere and to take away: Hugging Face folders, hub names, one file for each family."""
