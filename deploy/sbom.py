"""The packages that this Python has, as a bill of materials (CycloneDX): `python deploy/sbom.py > sbom.json`.

In:   the installed distributions, which carry names, versions, licences and the hashes of their files.
Out:  one component for each, with a hash over its list of files, sorted: the same environment, the same list.
"""

import hashlib
import json
import re
import sys
from importlib.metadata import Distribution, distributions
from typing import Any


def describe(package: Distribution) -> dict[str, Any]:
    """One component."""
    name = re.sub(r"[-_.]+", "-", package.metadata["Name"]).lower()
    licence = package.metadata.get("License-Expression") or package.metadata.get("License") or ""
    files = sorted(
        f"{file} {file.hash.value}"
        for file in package.files or ()
        if file.hash is not None and "__pycache__" not in str(file)
    )
    digest = hashlib.sha256("\n".join(files).encode()).hexdigest()
    found: dict[str, Any] = {
        "type": "library",
        "bom-ref": f"pkg:pypi/{name}@{package.version}",
        "name": name,
        "version": package.version,
        "purl": f"pkg:pypi/{name}@{package.version}",
        "hashes": [{"alg": "SHA-256", "content": digest}],
    }
    if licence and len(licence) < 100:
        found["licenses"] = [{"license": {"name": licence}}]
    return found


def main() -> None:
    """Print the bill of this environment."""
    found = {each["bom-ref"]: each for each in map(describe, distributions())}
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "components": [found[ref] for ref in sorted(found)],
    }
    json.dump(bill, sys.stdout, indent=1, ensure_ascii=True)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
