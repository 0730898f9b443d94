/** All builds of the page, one after the other in one process: Vite itself takes as long to start as most of them. */
import { build } from "vite";

await build();
for (const mode of ["production", "file", "walk", "run", "atlas", "loader"])
  await build({ configFile: "vite.embedded.config.ts", mode });
