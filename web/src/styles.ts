/** The style sheets that the first picture needs: theme, shell, canvas. Other views and marks bring their own. */

import "./styles/tokens.css";
import "./styles/reset.css";
import "./styles/controls.css";
import "./shell/style.css";
import "./marks/field.css";
import "./marks/heat_plot.css";
import "./marks/view.css";
import "./views/canvas/style.css";
