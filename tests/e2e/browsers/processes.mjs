// Whether browsers are left behind: the processes that these tests started, before and after.
import { readdirSync, readFileSync } from "node:fs";
import { mark, until } from "../support.mjs";

// Other tests may have browsers of their own at the same time. The folder for temporary files is in the
// environment, which Chromium overwrites with its command line; that has the profile's folder in it.
const ours = (entry) =>
  ["cmdline", "environ"].some((file) => readFileSync(`/proc/${entry}/${file}`).includes(mark));

// Command lines of the processes of this file's tests, by number.
export function processes() {
  const found = new Map();
  for (const entry of readdirSync("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      if (ours(entry))
        found.set(Number(entry), readFileSync(`/proc/${entry}/cmdline`, "utf8").replaceAll("\0", " "));
    } catch {}
  }
  return found;
}

const isBrowser = (line) =>
  /chromium|firefox|MiniBrowser|WebKit|Xvfb/.test(line) &&
  !/node --test|driftscope (compare|bench)/.test(line);

export const browsersSince = (before) =>
  [...processes()].filter(([pid, line]) => !before.has(pid) && isBrowser(line));

export const nothingLeft = (before) =>
  until(
    () => browsersSince(before).length === 0,
    `browsers to be gone: ${JSON.stringify(browsersSince(before))}`,
    15_000,
  );
