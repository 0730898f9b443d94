"""The network, from scratch: attention, blocks, stacks, generation. It knows token ids, never text."""
