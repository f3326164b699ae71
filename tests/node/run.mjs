// node run.mjs MODULE [ARGUMENT…]: tests that are linked as the program for Node is.
import { pathToFileURL } from "node:url";

import { start } from "../../node/program/start.mjs";

const [module, ...args] = process.argv.slice(2);
await start(pathToFileURL(module).href, args, { DRIFTSCOPE_NODE: process.execPath });
