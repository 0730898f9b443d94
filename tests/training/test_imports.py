"""Training and recording need no package of the server, the page or the terminal."""

import subprocess
import sys

import pytest

BLOCKED = ("fastapi", "httpx", "matplotlib", "pydantic", "rich", "starlette", "uvicorn")
PROGRAM = """
import importlib, pkgutil, sys

for name in {blocked!r}:
    sys.modules[name] = None  # an import of it fails
package = importlib.import_module({package!r})
for module in pkgutil.walk_packages(package.__path__, {package!r} + "."):
    if "gpu" not in module.name:  # these need Triton
        importlib.import_module(module.name)
"""


@pytest.mark.parametrize("package", ["glassformer.training", "glassformer.recorders"])
@pytest.mark.slow
def test_a_package_imports_with_torch_alone(package: str) -> None:
    program = PROGRAM.format(blocked=BLOCKED, package=package)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
