"""Recording and training import torch, transformers, tokenizers, safetensors and numpy alone."""

import subprocess
import sys

import pytest

OTHERS = ("pydantic", "rich", "httpx", "matplotlib", "triton", "fastapi", "starlette", "uvicorn", "anywidget")
CODE = f"""
import importlib, pkgutil, sys
for name in {OTHERS}:
    sys.modules[name] = None  # importing it fails
for package in ("recorders", "loaded", "training"):
    folder = importlib.import_module("glassformer." + package)
    for module in pkgutil.walk_packages(folder.__path__, folder.__name__ + "."):
        if not module.name.endswith((".gpu", ".gpu_kernels")):  # these need Triton
            importlib.import_module(module.name)
print("done")
"""


@pytest.mark.slow
def test_little_is_imported() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "done", done.stderr
