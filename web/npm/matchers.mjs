// For test runners that have expect.extend (Vitest, Jest):
//
//   import { matchers } from "driftscope/matchers";
//   expect.extend(matchers);
//   await expect({ model: "model.onnx", target: "chrome/ort" }).toAgreeWith("node/strict");
import { compare } from "./compare.mjs";
import { DriftscopeError } from "./program.mjs";

const shown = 20;

function failureText({ failures, errors, report }) {
  const bad = [...failures, ...errors];
  const lines = bad.slice(0, shown).map(({ target, name, message }) => `  ${target}  ${name}: ${message}`);
  if (bad.length > shown) lines.push(`  … and ${bad.length - shown} more`);
  return [report.headline, ...lines].join("\n");
}

export const matchers = {
  /**
   * `run`: { model, target (one, or several), and what compare takes: input, failOn, report, … };
   * `reference`: a target. By default a fault or another best class fails.
   */
  async toAgreeWith(run, reference, options = {}) {
    if (typeof run?.model !== "string" || !run.target)
      throw new TypeError(`toAgreeWith: expected { model, target, … }, got ${JSON.stringify(run)}`);
    if (typeof reference !== "string")
      throw new TypeError(
        `toAgreeWith: expected a target such as "node/strict", got ${JSON.stringify(reference)}`,
      );
    const { target, ...rest } = run;
    const result = await compare({
      failOn: ["fault", "top1"],
      ...rest,
      ...options,
      left: reference,
      right: target,
    });
    // What did not run neither agrees nor differs.
    if (result.errors.length > 0)
      throw new DriftscopeError(failureText(result), { exitCode: result.exitCode, stderr: result.stderr });
    return {
      pass: result.passed,
      message: () =>
        result.passed ? `expected a difference, but: ${result.report.headline}` : failureText(result),
    };
  },
};
