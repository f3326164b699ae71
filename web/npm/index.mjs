// The package's service: see index.d.ts for what each function takes and gives.
export { assertPassed, compare, verify } from "./compare.mjs";
export { comparePage, tensorsFromPage } from "./page.mjs";
export { DriftscopeError, findProgram } from "./program.mjs";
export { decodeTrace, encodeTrace } from "./trace.mjs";
