"""Recording of transformers models."""
