// Whether browsers are left behind: the processes of this machine before and after.
import { readdirSync, readFileSync } from 'node:fs';
import { until } from '../support.mjs';

// Command lines of all processes here, by number.
export function processes() {
  const found = new Map();
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      found.set(Number(entry), readFileSync(`/proc/${entry}/cmdline`, 'utf8').replaceAll('\0', ' '));
    } catch {}
  }
  return found;
}

const isBrowser = (line) =>
  /chromium|firefox|MiniBrowser|WebKit|Xvfb/.test(line) && !/node --test|driftscope (compare|bench)/.test(line);

export const browsersSince = (before) => [...processes()].filter(([pid, line]) => !before.has(pid) && isBrowser(line));

export const nothingLeft = (before) =>
  until(() => browsersSince(before).length === 0, `browsers to be gone: ${JSON.stringify(browsersSince(before))}`, 15_000);
