/** Asking the server about training. */

import type { Training, TrainingOverview } from "../../api/types";
import type { App } from "../state";

const PAUSE = 1000; // ms between two questions how a run stands

export function ask<T>(
  app: App,
  path: string,
  method?: "GET" | "POST" | "DELETE",
  body?: unknown,
): Promise<T> {
  const { server } = app;
  if (!server?.training) return Promise.reject(new Error("this page has no server that trains"));
  return server.training<T>(path, method, body);
}

/** Tells how a run stands until it neither starts nor stops any more, or nobody listens. */
export async function follow(
  app: App,
  id: string,
  signal: AbortSignal,
  heard: (now: Training) => void,
  pause: number = PAUSE,
): Promise<void> {
  while (!signal.aborted) {
    await new Promise((wake) => setTimeout(wake, pause));
    if (signal.aborted) return;
    const { runs } = await ask<TrainingOverview>(app, "");
    const now = runs.find((each) => each.id === id);
    if (signal.aborted || !now) return;
    heard(now);
    if (now.state !== "starting" && now.state !== "stopping") return;
  }
}
