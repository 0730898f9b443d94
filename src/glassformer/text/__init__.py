"""Text on its way to a network and back: tokenizers, readers, batches."""
