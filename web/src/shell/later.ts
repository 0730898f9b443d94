/** Parts of the shell that are fetched when they are first wanted. */

import { useEffect, useState } from "preact/hooks";
import { learn } from "../i18n/core";
import { useApp } from "./context";

/** The parts of a file, once they are wanted and here with their words; null before. */
function useParts<T extends object>(wanted: boolean, load: () => Promise<T>): T | null {
  const app = useApp();
  const [parts, setParts] = useState<T | null>(null);
  useEffect(() => {
    if (!wanted || parts) return;
    load()
      .then((found) => learn().then(() => setParts(found)))
      .catch((error: unknown) => app.complain(error));
  }, [wanted]);
  return parts;
}

/** Dialogs and panels. */
export const useLater = (wanted: boolean) => useParts(wanted, () => import("./later/parts"));

/** Two recordings beside each other. */
export const useComparing = (wanted: boolean) => useParts(wanted, () => import("./comparing/parts"));

/** What belongs to whoever is signed in. */
export const usePeople = (wanted: boolean) => useParts(wanted, () => import("./people/parts"));

/** The fields of a model that looks or listens. */
export const useMedia = (wanted: boolean) => useParts(wanted, () => import("./media/parts"));

/** The control for training time. */
export const useTraining = (wanted: boolean) => useParts(wanted, () => import("./training/parts"));
