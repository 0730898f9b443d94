/** Every style sheet: the theme first, then the shell, then the views. */

import "./styles/theme.css";
import "./styles/app.css";

// Lessons bring their own with them.
import.meta.glob(
  [
    "./styles/*.css",
    "!./styles/theme.css",
    "!./styles/app.css",
    "!./styles/walk.css",
    "!./styles/playground.css",
  ],
  { eager: true },
);
