/** Every style sheet of the page: the theme, what is shared, the shell, marks, then views. */

import "./styles/tokens.css";
import "./styles/reset.css";
import "./styles/controls.css";
import "./shell/style.css";

// Lessons bring their own with them.
import.meta.glob(
  ["./marks/*.css", "./views/*/style.css", "!./views/{walk,playground,curves,learning}/style.css"],
  { eager: true },
);
