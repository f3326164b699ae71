// compare and verify as functions. Their options become arguments of the program one to one; the result
// is its JSON.
import { DriftscopeError, runProgram } from "./program.mjs";

const listOf = (value) => (value === undefined ? [] : Array.isArray(value) ? value : [value]);

function needed(options, name) {
  const values = listOf(options[name]);
  if (values.length === 0 || values.some((value) => typeof value !== "string" || value === ""))
    throw new TypeError(
      `driftscope: the option "${name}" is needed, and must be text; got ${JSON.stringify(options[name])}`,
    );
  return values;
}

const limits = ({ maxMemory, maxTime }) => [
  ...(maxMemory === undefined ? [] : ["--max-memory", String(maxMemory)]),
  ...(maxTime === undefined ? [] : ["--max-time", String(maxTime)]),
];

/** The program's JSON; without it an error with the program's own message. */
function parsed({ exitCode, stdout, stderr, command }) {
  try {
    return JSON.parse(stdout);
  } catch {
    throw new DriftscopeError(stderr.trim() || `driftscope ended with exit code ${exitCode} and no output`, {
      exitCode,
      stderr,
      command,
    });
  }
}

export async function compare(options) {
  const args = ["compare", needed(options, "model")[0], "--quiet", "--json", "-"];
  args.push("--right", needed(options, "right").join(","));
  for (const input of listOf(options.input)) args.push("--input", input);
  for (const condition of listOf(options.failOn)) args.push("--fail-on", condition);
  const same = [
    "left",
    "dataset",
    "repeat",
    "times",
    "baseline",
    "report",
    "junit",
    "sarif",
    "summary",
    "timeout",
    "site",
    "trace",
  ];
  for (const name of same) if (options[name] !== undefined) args.push(`--${name}`, String(options[name]));
  if (options.stallTimeout !== undefined) args.push("--stall-timeout", String(options.stallTimeout));
  args.push(...limits(options));
  const ended = await runProgram(args, options);
  const report = parsed(ended);
  const { failures, errors, skipped, passed } = report.gate;
  return { passed, failures, errors, skipped, report, exitCode: ended.exitCode, stderr: ended.stderr };
}

export async function verify(options) {
  const traces = needed(options, "trace");
  const args = [
    "verify",
    needed(options, "model")[0],
    ...traces,
    "--quiet",
    "--json",
    "-",
    ...limits(options),
  ];
  const ended = await runProgram(args, options);
  const report = parsed(ended);
  const all = Array.isArray(report) ? report : [report];
  if (ended.exitCode > 1)
    // one of several traces: the verdicts of others must not hide it
    throw new DriftscopeError(ended.stderr.trim(), ended);
  return all;
}

/** Throws an error that test runners display well: every failed check on its own line. */
export function assertPassed(result) {
  if (result.passed) return;
  const line = ({ target, name, message }) => `  ${target}  ${name}: ${message}`;
  const bad = [...result.failures, ...result.errors];
  const limit = 20;
  const more = bad.length > limit ? `\n  … and ${bad.length - limit} more` : "";
  const error = new Error(
    `driftscope: ${bad.length} check${bad.length === 1 ? "" : "s"} failed (${result.report.gate.fail_on})\n` +
      bad.slice(0, limit).map(line).join("\n") +
      more,
  );
  error.name = "AssertionError";
  error.code = "ERR_ASSERTION";
  error.actual = bad;
  error.expected = [];
  throw error;
}
