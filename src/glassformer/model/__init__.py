"""The network, from scratch: attention, blocks, stacks, generation. Everything here knows token ids only, never text."""
