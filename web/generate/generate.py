"""Generate web/src/api/generated.ts from the OpenAPI schema, and the schema of recipes: `make types`.

In:   the schema of the server (`glassformer.api.openapi`); openapi-typescript, installed here by npm.
Out:  the file; its first line holds the hashes of the schema and of the types, so that a test knows a stale
      or edited copy without Node.
"""

import subprocess
import tempfile
from hashlib import sha256
from pathlib import Path

HERE = Path(__file__).parent
TARGET = HERE.parent / "src" / "api" / "generated.ts"
OPTIONS = ("--immutable", "--root-types", "--root-types-no-schema-prefix", "--root-types-keep-casing")


def main() -> None:
    """Write the file."""
    from glassformer.api.app import create_app
    from glassformer.api.library import Library
    from glassformer.api.openapi import render_schema
    from glassformer.workbench import recipe_schema

    recipe_schema.FILE.write_text(recipe_schema.render(), encoding="utf-8")
    if not (HERE / "node_modules").is_dir():
        subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=HERE, check=True)
    schema = render_schema(create_app(Library(shipped=None)))
    with tempfile.TemporaryDirectory() as folder:
        source, made = Path(folder, "openapi.json"), Path(folder, "generated.ts")
        source.write_text(schema, encoding="utf-8")
        command = ["npm", "run", "--silent", "generate", "--", str(source), "--output", str(made), *OPTIONS]
        subprocess.run(command, cwd=HERE, check=True)
        types = made.read_text(encoding="utf-8")
    TARGET.write_text(f"{head(schema, types)}\n{types}", encoding="utf-8")


def head(schema: str, types: str) -> str:
    """The first line of the file."""
    hashes = [sha256(text.encode()).hexdigest()[:16] for text in (schema, types)]
    return f"// Generated from the OpenAPI schema ({hashes[0]}, {hashes[1]}) by `make types`: do not edit."


if __name__ == "__main__":
    main()
