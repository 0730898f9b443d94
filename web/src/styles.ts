/** Every style sheet: the theme first, then the shell, then the views. */

import "./styles/theme.css";
import "./styles/app.css";

import.meta.glob(["./styles/*.css", "!./styles/theme.css", "!./styles/app.css"], { eager: true });
