// The entry of the page's scripts. Each module owns one concept and attaches
// itself to what it finds; the pages work without any of them, but for what
// only a script can do.
import { startZone } from "./zone.js";
import { startShell } from "./shell.js";
import { startCopy } from "./copy.js";
import { startKeys } from "./keys.js";
import { startClock } from "./clock.js";
import { startPager } from "./pager.js";
import { startFollow } from "./follow.js";
import { startOlder } from "./older.js";
import { startComposer } from "./composer.js";
import { startDrafts } from "./drafts.js";
import { startStream } from "./stream.js";
import { startVersions } from "./versions.js";
import { startEdit } from "./edit.js";
import { startRequests } from "./requests.js";
import { startAdmin } from "./admin.js";
import { startPicker } from "./picker.js";
import { startNotify } from "./notify.js";
import { startApprovals } from "./approvals.js";
import { startTitles } from "./titles.js";
import { enhance } from "./enhance.js";

startZone();
startRequests();
startShell();
startCopy();
startKeys();
startClock();
startPager();
startFollow();
startOlder();
startComposer();
startDrafts();
startStream();
startTitles();
startAdmin();
startPicker();
startNotify();
startVersions();
startEdit();
startApprovals();
enhance(document);
