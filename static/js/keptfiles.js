// The files of a message that is not sent yet, kept over reloads as its text is.
// They are too large for the place of the text: the browser's database has them,
// each with the draft that it belongs to.

const NAME = "offcut.files";
const STORE = "files";
const MOST_AGE_MS = 7 * 24 * 60 * 60 * 1000; // of what nobody sent
const ANSWERING_MS = 1000; // which nobody waits longer for the database

let opening;

/** The files of a draft, in the order in which they were added. */
export const filesOf = async (draft) => await within("readonly", (files) => files.index("draft").getAll(draft)) ?? [];

/** Keeps {draft, name, file}: the file alone, for what became of it on the server may
    not be so any more when the page is loaded again. Resolves to its number. */
export const keepFile = (file) => within("readwrite", (files) => files.add({ ...file, at: Date.now() }));

export const dropFile = (number) => within("readwrite", (files) => files.delete(number));

export const forgetFiles = () => within("readwrite", (files) => files.clear());

/** Drops the files of drafts that were left behind. */
export const sweepFiles = () => within("readwrite", (files) => {
  const old = files.index("at").openCursor(IDBKeyRange.upperBound(Date.now() - MOST_AGE_MS));
  old.addEventListener("success", () => {
    old.result?.delete();
    old.result?.continue();
  });
  return old;
});

/** Waits for what the database was asked, and never for long: there are browsers
    whose database is slow, or never answers. */
export const awhile = (asked) => Promise.race([asked, new Promise((late) => { setTimeout(late, ANSWERING_MS); })]);

/** The result of a request to the database; undefined where the browser has none,
    or has no room: a draft's files then live as long as the page. */
async function within(mode, ask) {
  try {
    opening ??= result(open());
    const db = await opening;
    return await result(ask(db.transaction(STORE, mode).objectStore(STORE)));
  } catch {
    return undefined;
  }
}

function open() {
  const request = indexedDB.open(NAME, 1);
  request.addEventListener("upgradeneeded", () => {
    const files = request.result.createObjectStore(STORE, { keyPath: "number", autoIncrement: true });
    for (const name of ["draft", "at"]) files.createIndex(name, name);
  });
  return request;
}

const result = (request) => new Promise((resolve, reject) => {
  request.addEventListener("success", () => resolve(request.result));
  request.addEventListener("error", () => reject(request.error));
});
