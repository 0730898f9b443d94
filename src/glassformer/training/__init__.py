"""Training: one loop, its optimiser and schedules, checkpoints that survive, a monitor of every head.

In:   a recipe (TOML).
Out:  a run: checkpoints in Hugging Face layout and a `RunLog`.
"""
