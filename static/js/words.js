// The texts that scripts say. They stand in the page, in its language.

const words = document.getElementById("words")?.dataset ?? {};
const lang = document.documentElement.lang || "en";

/** The text of key, with count in the place of {count} and rest in that of {rest}. */
export function word(key, count = "", rest = "") {
  const name = key.replace(/-([a-z])/g, (_, c) => c.toUpperCase());
  return (words[name] ?? "").replaceAll("{count}", () => count).replaceAll("{rest}", () => rest);
}

/** A count as people act on it: 5213908 is 5,213,908. */
export function exact(n) {
  return new Intl.NumberFormat(lang, { useGrouping: true }).format(n);
}

/** A size in decimal units with three figures, as rows have it. */
export function rounded(n) {
  let unit = "B";
  for (const next of ["kB", "MB", "GB", "TB"]) {
    if (n < (unit === "B" ? 1000 : 999.5)) break;
    n /= 1000;
    unit = next;
  }
  if (unit === "B") return `${n} B`;
  return `${n.toFixed(n < 9.995 ? 2 : n < 99.95 ? 1 : 0)} ${unit}`;
}

/** The time of day of a date, in the reader's zone. */
export function timeOfDay(date) {
  return new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" }).format(date);
}

/** A date with its time of day, in the reader's zone. */
export function moment(date) {
  const day = `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, "0")}-${String(date.getDate()).padStart(2, "0")}`;
  return `${day} ${timeOfDay(date)}`;
}
