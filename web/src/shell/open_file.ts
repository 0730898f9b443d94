/** Opens a bundle that a person chose or dropped. */

import { count as grouped } from "../core/formats";
import { Refusal } from "../core/source";
import type { App } from "./state";
import { words } from "./words";

export async function openFile(app: App, file: Blob): Promise<void> {
  if (!app.server) return;
  try {
    const most = app.about.peek()?.limits.upload_bytes;
    if (most !== undefined && file.size > most) {
      const sizes = [grouped(file.size), grouped(most)] as const;
      throw new Refusal((language) => words(language).fileTooLarge(...sizes), "too_large", 0);
    }
    const id = await app.server.upload(file);
    await app.refreshRecordings();
    await app.go(id);
  } catch (error) {
    app.complain(error);
  }
}
