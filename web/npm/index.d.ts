import type { Check, CompareDocument, Gate, VerifyDocument } from "./documents.js";
import type { Tensors } from "./trace.js";

export * from "./documents.js";
export { decodeTrace, encodeTrace } from "./trace.js";
export type { DecodedTrace, DType, TensorLike, Tensors } from "./trace.js";

/** What makes a comparison fail; `slower:20%` is a fifth longer, beyond the noise that was measured. */
export type FailCondition =
  | "fault"
  | "suspect"
  | "unjudged"
  | "nonfinite"
  | "top1"
  | "bits"
  | "unrepeatable"
  | "growing"
  | `slower:${number}%`;

export interface ProgramOptions {
  /** The driftscope program; else $DRIFTSCOPE, the PATH, or the build of a checkout. */
  program?: string;
  cwd?: string;
  env?: Record<string, string>;
  /** Ends the program and the browsers that it started. */
  signal?: AbortSignal;
  /** As --max-memory: what a model's values may take, as "500MB" or bytes, here and in our engines in browsers. */
  maxMemory?: string | number;
  /** As --max-time: seconds after which everything is ended. */
  maxTime?: number;
}

export interface CompareOptions extends ProgramOptions {
  /** The .onnx file. */
  model: string;
  /** The target to compare with; default "pc/strict". */
  left?: string;
  /** host/engine[:option=value,…], as in "chrome/fast"; or "file/trace.safetensors". */
  right: string | string[];
  /** As --input: a file, "seed:42" (the default), "idx:FILE#17"; one per input of the model. */
  input?: string | string[];
  dataset?: string;
  /** Default: "fault". */
  failOn?: FailCondition | FailCondition[];
  /** A file of `driftscope baseline save`. */
  baseline?: string;
  repeat?: number;
  /** Seconds of unwatched runs, which give the time of each target; 0: none. Default 1. */
  times?: number;
  trace?: "all" | "fused" | "outputs";
  /** Where to write the HTML report, and the checks as JUnit XML. */
  report?: string;
  junit?: string;
  /** Also a SARIF file of what failed. */
  sarif?: string;
  /** Also a file with the summary as Markdown. */
  summary?: string;
  /** Seconds without a sign of life after which a browser is abandoned. */
  timeout?: number;
  /** Seconds without progress after which a browser is given up whose page lives. Default: 5 times timeout. */
  stallTimeout?: number;
  /** Folder of Driftscope's own page. */
  site?: string;
}

/** A number of the report; NaN is null. */
export type ReportNumber = number | null;

/** "driftscope-verify-1" */
export type Verification = VerifyDocument;

/** "driftscope-compare-1" */
export type CompareReport = CompareDocument & { gate: Gate };

export interface CompareResult {
  /** No condition of failOn holds, and every target ran. */
  passed: boolean;
  failures: Check[];
  /** Targets that did not run: a browser is missing, the trace does not fit. */
  errors: Check[];
  skipped: Check[];
  report: CompareReport;
  /** 0 passed, 1 failed, 2 bad input, 3 something is missing on this machine. */
  exitCode: number;
  stderr: string;
}

/** Runs `driftscope compare`. @throws DriftscopeError when nothing could be compared. */
export function compare(options: CompareOptions): Promise<CompareResult>;

export interface VerifyOptions extends ProgramOptions {
  model: string;
  /** Trace files, from any runtime. */
  trace: string | string[];
}

/** Runs `driftscope verify`: one verification per trace. @throws DriftscopeError */
export function verify(options: VerifyOptions): Promise<Verification[]>;

/** Throws an AssertionError that lists what failed; nothing when all passed. */
export function assertPassed(result: CompareResult): void;

/** The part of Playwright's and Puppeteer's Page that is used. */
export interface PageLike {
  evaluateHandle(pageFunction: any, arg?: any): Promise<any>;
  evaluate(pageFunction: any, arg?: any): Promise<any>;
}

export interface ComparePageOptions<Argument = unknown> extends Omit<CompareOptions, "right"> {
  /** Your page, opened by your test runner. */
  page: PageLike;
  /**
   * Runs in the page: returns the model's inputs and what was computed from them, by the names of the ONNX
   * model's values. With onnxruntime-web: `async () => ({ ...feeds, ...(await session.run(feeds)) })`.
   */
  collect: (argument: Argument) => Tensors | Promise<Tensors>;
  arg?: Argument;
  /** Names the target in the result; default "page". */
  name?: string;
  /** What computes in the page, for the record, as in "onnxruntime-web 1.30". */
  engine?: string;
}

/** Compares what your own page computes with `left`, on the page's own inputs. */
export function comparePage<Argument = unknown>(
  options: ComparePageOptions<Argument>,
): Promise<CompareResult>;

/** The tensors that `collect` returns in the page, in this process. */
export function tensorsFromPage<Argument = unknown>(
  page: PageLike,
  collect: (argument: Argument) => Tensors | Promise<Tensors>,
  arg?: Argument,
): Promise<{ tensors: Tensors; userAgent: string }>;

/** The program's message when it failed. */
export class DriftscopeError extends Error {
  exitCode: number;
  stderr: string;
  command: string[];
}

/** Path of the program that is used. @throws DriftscopeError when there is none */
export function findProgram(given?: string): string;
