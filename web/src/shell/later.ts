/** Parts of the shell that are fetched when they are first wanted. */

import { useEffect, useState } from "preact/hooks";
import { learn } from "../i18n/core";
import { useApp } from "./context";

type Parts = typeof import("./later/parts");

/** The parts, once they are wanted and here with their words; null before. */
export function useLater(wanted: boolean): Parts | null {
  const app = useApp();
  const [parts, setParts] = useState<Parts | null>(null);
  useEffect(() => {
    if (!wanted || parts) return;
    import("./later/parts")
      .then((found) => learn().then(() => setParts(found)))
      .catch((error: unknown) => app.complain(error));
  }, [wanted]);
  return parts;
}
