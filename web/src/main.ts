/** The page: mounts the workbench on the server that sent it. */

import "./styles";
import { views } from "./views";

document.getElementById("glassformer")?.setAttribute("data-views", String(views.length));
