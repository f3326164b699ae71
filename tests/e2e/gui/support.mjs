// The desktop program under Xvfb, carrying out a script.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { driftscope, run } from "../support.mjs";
import { decodePng } from "./png.mjs";

export const hasGui = existsSync(`${driftscope}-gui`);

/**
 * `driftscope gui` with `lines` as its script, in `folder`. With its own home, so that no history of this
 * machine is seen; software rendering, so that pictures are the same everywhere.
 */
export function gui(folder, lines, { files = [], options = [] } = {}) {
  const home = join(folder, "home");
  mkdirSync(home, { recursive: true });
  const script = join(folder, "script.txt");
  writeFileSync(script, lines.join("\n") + "\n");
  return run(
    [
      "-a",
      "-s",
      "-screen 0 3840x2160x24",
      driftscope,
      "gui",
      "--size",
      "1280x800",
      "--scale",
      "1",
      "--save",
      folder,
      "--script",
      script,
      ...options,
      "--",
      ...files,
    ],
    {
      program: "xvfb-run",
      cwd: folder,
      timeout: 280_000,
      env: { HOME: home, XDG_DATA_HOME: home, LIBGL_ALWAYS_SOFTWARE: "1" },
    },
  );
}

export const picture = (folder, name) => decodePng(readFileSync(join(folder, name)));
