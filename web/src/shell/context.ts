/** The app, for every component below the shell. */

import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { App } from "./state";

export const AppContext = createContext<App | null>(null);

export function useApp(): App {
  const app = useContext(AppContext);
  if (!app) throw new Error("This component stands outside of the shell.");
  return app;
}
