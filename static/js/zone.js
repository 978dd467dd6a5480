// Tells the server the reader's time zone, by a cookie: days and months in its
// lists begin when they do for the reader. The page that is there already stays
// as it is; the next one has it.
import { basePath } from "./requests.js";

const NAME = "offcut_zone"; // as the server has it
const YEAR_S = 365 * 24 * 60 * 60;

export function startZone() {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (!zone || document.cookie.split("; ").includes(`${NAME}=${zone}`)) return;
  const secure = location.protocol === "https:" ? "; secure" : "";
  document.cookie = `${NAME}=${zone}; path=${basePath}/; max-age=${YEAR_S}; samesite=lax${secure}`;
}
