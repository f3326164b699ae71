// The documents that the program writes, made by tools/documents from core/protocol/documents; not edited.
// A number that may be infinite is then ±1.7976931348623157e308; NaN is null.

export type BenchEnd = "precise" | "time" | "runs" | "failed" | "stopped";
export type CheckKind = "fault" | "suspect" | "unjudged" | "top1" | "bits" | "unrepeatable" | "growing" | "slower" | "run" | "";
export type TimeKind = "unknown" | "layers" | "watched" | "unwatched";
export type ErrorKind = "bad_input" | "unsupported" | "limit" | "missing" | "io" | "cancelled" | "internal";
export type Outcome = "passed" | "failed" | "not supported";
export type FoundBy = "given" | "name" | "structure" | "values";
export type Growth = "flat" | "unclear" | "grows";
export type Verdict = "identical" | "rounding" | "unjudged" | "suspect" | "fault" | "missing";
export type BudgetMetric = "ulp" | "absolute";

/** A layer that was unjudged, suspect or a fault. */
export interface KnownLayer {
  /** The node's name. */
  node: string;
  /** The name of the value. */
  output: string;
  /** What it was. */
  verdict: Verdict;
}

/** A target of the baseline. */
export interface BaselineTarget {
  /** host/engine[:option=value,…]. */
  target: string;
  /** Browser and version, instruction set, threads, in words. */
  ran: string;
  /** What is not to be reported again. */
  known: KnownLayer[];
  /** The best class of each row of the output; empty: no classes, or thousands of rows. */
  top1: number[];
  /** Of the output's bytes. */
  outputs_sha256: string;
  /** One per fresh start; empty: not measured. */
  medians_ns: number[];
}

/** Where times were measured. */
export interface BaselineMachine {
  /** The processor's name. */
  cpu: string;
  /** Processors that may be used. */
  cores: number;
}

/** How times were measured. */
export interface BaselineMeasured {
  /** Fresh starts. */
  starts: number;
  /** Per start and target. */
  seconds: number;
}

/** A computer. */
export interface Machine {
  /** The processor's name. */
  cpu: string;
  /** Processors that may be used. */
  cores: number;
  /** In all. */
  memory_bytes?: number;
  /** Kernel and architecture. */
  system?: string;
  /** Of the processor's frequency. */
  governor?: string;
  /** The load average before. */
  load_1min?: number;
  /** What other processes used of the processors before. */
  busy_share?: number;
  [other: string]: unknown;
}

/** What a browser fetches. */
export interface Download {
  /** As transferred. */
  bytes: number;
  /** Unpacked. */
  raw_bytes: number;
  /** Of that the engine. */
  engine_bytes: number;
  /** Unpacked. */
  engine_raw_bytes: number;
  /** Of that the model. */
  model_bytes: number;
}

/** What each further run adds. */
export interface Slope {
  /** The estimate. */
  per_run: number | null;
  /** [low, high]. */
  interval: (number | null)[] | null;
}

/** What is in use after the last run. */
export interface Alive {
  /** Buffers of tensors. */
  tensors: number;
  /** Their sizes. */
  bytes: number;
  /** Null where it is not known. */
  tensors_slope: Slope | null;
  /** The same of the heap. */
  heap_bytes_slope: Slope | null;
}

/** A model on a target. */
export interface BenchResult {
  /** Its name. */
  model: string;
  /** With its threads. */
  target: string;
  /** Samples per run. */
  batch: number;
  /** What was recorded meanwhile: none, or as `--trace`. */
  capture: string;
  /** Until the first run could begin: engine, model, preparation. */
  load_ms: number | null;
  /** The first run stands apart and is never averaged in. */
  first_ms: number | null;
  /** Of the others. */
  median_ms: number | null;
  /** [low, high] at the confidence of the bench. */
  median_interval_ms: (number | null)[] | null;
  /** The 95th percentile. */
  p95_ms: number | null;
  /** The fastest run. */
  min_ms: number | null;
  /** The median absolute deviation. */
  mad_ms: number | null;
  /** How many count. */
  runs: number;
  /** In how many turns. */
  rounds: number;
  /** Runs for one reading of the clock. */
  inner_runs: number;
  /** The step of the clock. */
  clock_ns: number | null;
  /** Runs before, which do not count. */
  warm_up_runs: number;
  /** Whether times had stopped drifting. */
  steady: boolean;
  /** Why it ended. */
  ended_by: BenchEnd;
  /** Samples. */
  throughput_per_s: number | null;
  /** Operations of the products of one run; null: unknown. */
  product_flop: number | null;
  /** 10⁹ of them per second. */
  gflop_per_s: number | null;
  /** Null where there is none. */
  wasm_heap_peak_bytes: number | null;
  /** Null where it is unknown. */
  process_peak_bytes: number | null;
  /** As download.bytes. */
  download_bytes: number | null;
  /** Why it ended early. */
  error?: string;
  /** What a browser fetches. */
  download: Download;
  /** Until the process or the page was there. */
  start_ms: number | null;
  /** Parts of load_ms: compile_ms, read_ms, prepare_ms. */
  load?: Record<string, number | null>;
  /** After the last run. */
  alive: Alive;
  /** Of the .onnx file. */
  model_sha256: string;
  /** Of the program that computes. */
  build: string;
  /** What really ran: as `run` of a trace. */
  ran: Run;
}

/** A target beside a base. */
export interface BenchRatio {
  /** Of which model. */
  model: string;
  /** Which target. */
  target: string;
  /** Compared with which. */
  base: string;
  /** The base is the same target without recording. */
  base_untraced: boolean;
  /** Same batch, threads and capture. */
  group: string;
  /** The base's time divided by the target's. */
  times_as_fast: number | null;
  /** [low, high]. */
  interval: (number | null)[] | null;
}

/** The geometric mean of such ratios over models. */
export interface BenchMean {
  /** Which target. */
  target: string;
  /** Compared with which. */
  base: string;
  /** As of a ratio. */
  base_untraced: boolean;
  /** As of a ratio. */
  group: string;
  /** How many. */
  models: number;
  /** The mean. */
  times_as_fast: number | null;
  /** [low, high]. */
  interval: (number | null)[] | null;
}

/** A target that could not be measured. */
export interface BenchFailure {
  /** Which model. */
  model: string;
  /** Which target. */
  target: string;
  /** Samples per run. */
  batch: number;
  /** Why. */
  error: string;
}

/** A node. */
export interface NamedNode {
  /** Its name. */
  name: string;
  /** Its operator. */
  op: string;
}

/** A level; what follows the error is there where it ran. */
export interface BisectLevel {
  /** The value of the option. */
  level: string;
  /** The whole target. */
  target: string;
  /** Why it did not run. */
  error?: string;
  /** Whether the outputs differ from those of the first level. */
  differs?: boolean;
  /** Of the outputs. */
  different_elements?: number;
  /** Of the outputs. */
  elements?: number;
  /** The largest difference. */
  max_abs?: number | null;
  /** The same in units in the last place. */
  max_ulp?: number | null;
  /** Verify's. */
  verdict?: Verdict;
  /** The first faulty node. */
  first_fault?: string | null;
  /** Recorded. */
  values?: number;
  /** Of the optimised model. */
  nodes?: number;
}

/** The first value that differs. */
export interface BisectFirst {
  /** Its name. */
  value: string;
  /** What makes it. */
  node: string;
  /** Its operator. */
  op: string;
  /** Of the value. */
  different_elements: number;
  /** Of the value. */
  elements: number;
  /** The largest difference. */
  max_abs: number | null;
  /** The same in units in the last place. */
  max_ulp: number | null;
  /** At the level before. */
  verdict_from: Verdict;
  /** At this level. */
  verdict_to: Verdict;
}

/** Nodes that the optimiser replaced. */
export interface BisectReplaced {
  /** Those before. */
  nodes: NamedNode[];
  /** Those in their place. */
  by: NamedNode[];
  /** What both make. */
  outputs: string[];
}

/** From one level to the next. */
export interface BisectStep {
  /** The level before. */
  from: string;
  /** The level that differs. */
  to: string;
  /** Null where no recorded value differs. */
  first: BisectFirst | null;
  /** Which of replaced makes that value. */
  culprit: number | null;
  /** What was rewritten. */
  replaced: BisectReplaced[];
  /** Nodes without a successor. */
  vanished: string[];
}

/** Of one run of the whole model. Only times of one kind may be compared. */
export interface RunTime {
  /** Nanoseconds, once steady. */
  ns: number;
  /** unwatched: nothing was recorded meanwhile; layers: a sum. */
  kind: TimeKind;
  /** Of the first unwatched run. */
  first_ns: number;
  /** How many there were. */
  runs: number;
  /** Where the times of layers come from. */
  layers: string;
  /** Why there is no unwatched time, though it was asked for. */
  error?: string;
}

/** The best class of the first output. */
export interface OutputAgreement {
  /** On the left target; −1 where the output has no classes. */
  top1_left: number;
  /** On this target. */
  top1_right: number;
  /** Whether all rows of classes have the same best class. */
  agree: boolean;
}

/** The largest reading of the memory in use. */
export interface Peak {
  /** In use. */
  peak_bytes: number;
  /** What was read. */
  kind: string;
}

/** A target over a data set. */
export interface DatasetResult {
  /** How many. */
  samples: number;
  /** Null without labels. */
  correct: number | null;
  /** Samples with the same best class as on the left target. */
  agree: number | null;
  /** The best class of each sample. */
  predictions?: number[];
}

/** An output of a node, on this target and the left one. Metrics are those of this target against the left one. */
export interface ComparedLayer {
  /** The node's name. */
  node: string;
  /** Its operator. */
  op: string;
  /** The name of the value. */
  output: string;
  /** Its sizes. */
  shape: number[];
  /** Among all outputs of the model's nodes in topological order, counted from 1. */
  place: number;
  /** True: it depends on no input. */
  constant?: boolean;
  /** max abs */
  max_abs: number | null;
  /** max rel */
  max_rel: number | null;
  /** max ULP */
  max_ulp: number | null;
  /** mean abs */
  mean_abs: number | null;
  /** mean rel */
  mean_rel: number | null;
  /** cosine */
  cosine: number | null;
  /** SQNR */
  sqnr_db: number | null;
  /** KL */
  kl: number | null;
  /** differ */
  different_elements: number;
  /** elements */
  elements: number;
  /** NaN */
  nan: number;
  /** infinite */
  inf: number;
  /** Median of the later half of the recorded runs; 0: unknown. */
  left_ns: number;
  /** The same on this target. */
  right_ns: number;
  /** Verify's where that is unjudged or worse. Else identical if no bit differs, and rounding if the layer itself is exact and only its inputs differ. */
  verdict: Verdict;
  /** True: one side lacks it. */
  unrecorded?: boolean;
  /** Why it could not be compared. */
  reason?: string;
}

/** A target. The left one, and one that did not run, lack what compares it with the left one. */
export interface ComparedTarget {
  /** host/engine[:option=value,…]. */
  target: string;
  /** As of `verify`. */
  verify?: VerifyDocument;
  /** The first node with a differing bit. */
  first_divergence?: string | null;
  /** What was recorded on at least one side, in topological order. */
  layers?: ComparedLayer[];
  /** Whether the answers agree. */
  output?: OutputAgreement;
  /** Of whatever kind was largest. */
  memory?: Peak;
  /** Of the whole model. */
  time?: RunTime;
  /** Why it did not run, or not to the end. */
  error?: string;
  /** With error; it decides the exit code. */
  error_kind?: ErrorKind;
  /** With `--dataset`. */
  dataset?: DatasetResult;
  /** What really ran: `run` of its trace. */
  ran?: Run;
  /** Of the best kind: processes before heaps. */
  peak_memory?: MemoryReading;
  /** As in ran. */
  observer_check?: ObserverCheck;
  /** As in ran. */
  memory_runs?: MemoryRuns;
  /** In words: how values were matched under other names. */
  names?: string;
}

/** A condition of a target. */
export interface Check {
  /** Of which. */
  target: string;
  /** As `conv1 (Conv)`, `top-1`, `speed`. */
  name: string;
  /** Of which condition; run: the target did not; empty: of none. */
  kind: CheckKind;
  /** What was found. */
  message: string;
}

/** What `--fail-on` decided. */
export interface Gate {
  /** The conditions. */
  fail_on: string;
  /** Whether none holds, and every target ran. */
  passed: boolean;
  /** How many were made. */
  checks: number;
  /** Those that failed. */
  failures: Check[];
  /** Targets that did not run. */
  errors: Check[];
  /** What could not be judged. */
  skipped: Check[];
}

/** Why a target did not run. */
export interface TargetError {
  /** What sort of failure it is. */
  kind: ErrorKind;
  /** One sentence. */
  message: string;
}

/** Compared with the first target of the same engine. */
export interface SameBits {
  /** Cases. */
  compared: number;
  /** Those with the same bits. */
  same: number;
}

/** A test case. */
export interface ConformanceCase {
  /** The set of cases that it is of. */
  family: string;
  /** Its name. */
  name: string;
  /** How it went. */
  result: Outcome;
  /** Of its model. */
  operators: string[];
  /** Why it did not pass. */
  reason?: string;
  /** As the first target of the same engine. */
  same_bits?: boolean;
  /** How a browser was lost during it that was not when it ran again. */
  lost_before?: string;
}

/** A target; one that did not run has an error and nothing else. */
export interface ConformanceTarget {
  /** host/engine[:option=value,…]. */
  target: string;
  /** Why nothing ran. */
  error?: TargetError;
  /** Cases. */
  passed?: number;
  /** Cases. */
  failed?: number;
  /** Cases. */
  not_supported?: number;
  /** Where there is a target to compare with. */
  same_bits?: SameBits;
  /** All of them. */
  cases?: ConformanceCase[];
}

/** One of the two. */
export interface CheckedModel {
  /** Its file. */
  path: string;
  /** Its format. */
  kind: string;
  /** Its size. */
  bytes: number;
  /** Reading it. */
  load_ms?: number | null;
  /** How many. */
  nodes?: number;
  /** How many. */
  weights?: number;
  /** What was noticed while reading. */
  notes?: string[];
}

/** Two values that are the same. */
export interface ValuePair {
  /** In the original. */
  a: string;
  /** In the conversion. */
  b: string;
  /** The order of b's axes. */
  order: number[];
}

/** The conversion against the original. */
export interface Drift {
  /** Largest absolute difference. */
  max_abs: number | null;
  /** Largest relative difference. */
  max_rel: number | null;
  /** Mean absolute difference. */
  mean_abs: number | null;
  /** Mean relative difference. */
  mean_rel: number | null;
  /** In units in the last place. */
  max_ulp: number | null;
  /** Of the angle between both. */
  cosine: number | null;
  /** Signal to noise. */
  sqnr_db: number | null;
  /** With other bits. */
  different_elements: number;
  /** In all. */
  elements: number;
}

/** Of the layer itself, from its own inputs. */
export interface OwnError {
  /** budget */
  budget_used: number | null;
  /** statistical */
  budget_used_statistical: number | null;
  /** max abs */
  max_abs: number | null;
  /** max rel */
  max_rel: number | null;
  /** max ULP */
  max_ulp: number | null;
  /** mean abs */
  mean_abs: number | null;
  /** mean rel */
  mean_rel: number | null;
  /** mean signed z */
  mean_signed_z: number | null;
  /** cosine */
  cosine: number | null;
  /** SQNR */
  sqnr_db: number | null;
  /** differ */
  different_elements: number;
  /** elements */
  elements: number;
  /** NaN */
  nan: number;
  /** infinite */
  inf: number;
  /** As of verify. */
  group?: string[];
  /** As of verify. */
  reason?: string;
}

/** A value that both have. */
export interface CheckedLayer {
  /** Its name in the original. */
  a: string;
  /** In the conversion. */
  b: string;
  /** How they were found to be the same. */
  by: FoundBy;
  /** The order of b's axes. */
  order?: number[];
  /** What makes it. */
  node_a?: string;
  /** Its operator. */
  op_a?: string;
  /** The same in the conversion. */
  node_b?: string;
  /** Its operator. */
  op_b?: string;
  /** Its sizes. */
  shape: number[];
  /** True: of the model. */
  output?: boolean;
  /** Null where they cannot be compared. */
  drift: Drift | null;
  /** Why not. */
  reason?: string;
  /** Of the conversion's own computation. */
  verdict?: Verdict;
  /** With verdict. */
  own?: OwnError;
}

/** Why a layer differs. */
export interface Explanation {
  /** Its name in the original. */
  layer: string;
  /** operator missing, attribute, padding, weights, layout, float16, quantized, … */
  cause: string;
  /** Where, in the original. */
  node_a?: string;
  /** In the conversion. */
  node_b?: string;
  /** The sentence. */
  text: string;
  /** Whether undoing it made the layer the same; null: not tried. */
  confirmed: boolean | null;
}

/** Both over a data set. */
export interface DatasetCheck {
  /** Which. */
  text: string;
  /** How many. */
  samples: number;
  /** With the same best class. */
  top1_agree: number;
  /** Where there are labels. */
  correct_a?: number;
  /** The same of the conversion. */
  correct_b?: number;
  /** Of the outputs. */
  drift: Drift;
}

/** Something that targets need. */
export interface DoctorFinding {
  /** Its name. */
  what: string;
  /** Whether it is there. */
  ok: boolean;
  /** Its version, or why not and what to do. */
  detail: string;
}

/** A file that was written. */
export interface ExportedFile {
  /** Its name. */
  name: string;
  /** Its size. */
  bytes: number;
}

/** Where a value of the model is. */
export interface ExportedValue {
  /** Its name in the exported model. */
  tensor: string;
  /** The order of its axes there. */
  order: number[];
  /** Its element type there. */
  dtype: string;
}

/** The model in one format. */
export interface ExportedModel {
  /** As the option of `export`. */
  format: string;
  /** Where it is. */
  path: string;
  /** What was written. */
  files: ExportedFile[];
  /** By the name of the value. */
  values: Record<string, ExportedValue>;
  /** Values that it has no tensor of, and why. */
  without: Record<string, string>;
  /** What had to be changed. */
  facts: Record<string, string>;
}

/** A file of the model. */
export interface KeptFile {
  /** Its own; of external data as the model names it. */
  name: string;
  /** The member that holds it. */
  member: string;
}

/** The model. */
export interface KeptModel {
  /** Its file's name. */
  name: string;
  /** Of the .onnx file. */
  sha256: string;
  /** The .onnx file, then those of external data; none where the model was left out. */
  files: KeptFile[];
}

/** A target of the comparison. */
export interface KeptTarget {
  /** host/engine[:option=value,…]. */
  target: string;
  /** The member that holds its trace; null: it has none. */
  trace: string | null;
}

/** Memory over many runs. */
export interface MemoryRuns {
  /** How many. */
  runs: number;
  /** Why it ended: runs, decided, time, memory. */
  stopped: string;
  /** The worst of all kinds. */
  verdict: Growth;
  /** The sentence. */
  text: string;
  /** What was read. */
  kinds: MemoryKind[];
}

/** One kind of memory over runs. */
export interface MemoryKind {
  /** heap_in_use, process_pss, … */
  kind: string;
  /** A count of bytes: nothing else moves it. */
  exact: boolean;
  /** Whether it grows. */
  verdict: Growth;
  /** Null where it cannot be estimated. */
  bytes_per_run: number | null;
  /** Of its interval at 99 %. */
  low: number | null;
  /** Of its interval. */
  high: number | null;
  /** [run, bytes] each. */
  samples: number[][];
}

/** The outputs of a run that was recorded beside those of one that was not. */
export interface ObserverCheck {
  /** Whether a bit differs. */
  changed: boolean;
  /** Of all outputs. */
  different_elements: number;
  /** Of all outputs. */
  elements: number;
  /** The largest difference. */
  max_ulp: number | null;
  /** Why they differ other than in elements. */
  reason?: string;
}

/** As repeat_check of verify, without verdicts. */
export interface RecordedRepeats {
  /** How many were compared. */
  runs: number;
  /** In each of them. */
  values: number;
  /** Whether all do. */
  agree: boolean;
  /** Runs that agree. */
  groups: RunGroup[];
  /** The first that differs from run 1, and the last where it is another one. */
  different: RecordedDifference[];
  /** Beyond those in groups. */
  more_groups?: number;
}

/** A run that differs from the first. */
export interface RecordedDifference {
  /** Counted from 1. */
  run: number;
  /** The first value that differs; that of this run is the tensor driftscope.runN/NAME. */
  value: string;
  /** What makes it; empty: an input. */
  node: string;
  /** Its operator. */
  op: string;
  /** How many values differ. */
  values: number;
  /** By nothing but signs of zeros. */
  zero_signs: boolean;
  /** Why they differ other than in elements. */
  reason?: string;
}

/** Runs of one recording that agree with each other bit for bit. */
export interface RunGroup {
  /** The first of them, counted from 1. */
  first: number;
  /** The last. */
  last: number;
  /** How many. */
  runs: number;
}

/** Times of the whole model. */
export interface RunTimes {
  /** One per recorded run. */
  watched_ns?: number[];
  /** If it was measured. */
  unwatched?: UnwatchedTimes;
}

/** Of runs in which nothing was recorded: all but error, or error alone. */
export interface UnwatchedTimes {
  /** Of the readings. */
  median_ns?: number;
  /** The first run. */
  first_ns?: number;
  /** All of them. */
  runs?: number;
  /** Per run, once warm: medians of slices of runs. */
  readings_ns?: number[];
  /** Why there are none. */
  error?: string;
}

/** What really ran. */
export interface Run {
  /** Which chooses the error model; else the engine of target does. */
  engine?: string;
  /** Of the engine. */
  instruction_set?: string;
  /** Processor or graphics card. */
  device?: string;
  /** As an option of the target. */
  threads_asked?: number;
  /** What there was. */
  threads_real?: number;
  /** Of the target, and facts that the engine reports, such as on_strict or driver. Half precision is assumed only where they say so (precision=fp16, fp16=1). */
  options?: Record<string, string | number | boolean | null>;
  /** Processor and system. */
  platform?: string;
  /** Of this program. */
  compiler?: string;
  /** When the run began. */
  start_time?: string;
  /** How often it ran while it was recorded. */
  repeat?: number;
  /** Which values were kept. */
  capture?: string;
  /** Of the target. */
  host?: string;
  /** As the page sees it. */
  browser?: string;
  /** As the launcher sees it. */
  browser_version?: string;
  /** Of the browser. */
  user_agent?: string;
  /** Whether the page may share memory between threads. */
  isolated?: boolean;
  /** As the browser says. */
  cores?: number;
  /** As the browser says. */
  device_memory_gb?: number | null;
  /** Which build of the core ran. */
  wasm_variant?: string;
  /** How long one run of the whole model took. */
  times?: RunTimes;
  /** Whether the runs agree. */
  repeat_check?: RecordedRepeats;
  /** Whether recording changed the outputs. */
  observer_check?: ObserverCheck;
  /** Whether memory grows from run to run. */
  memory_runs?: MemoryRuns;
  /** Tensors that were matched under other names. */
  matched_by_position?: MatchedValues;
  /** Tensors that are no value of the model. */
  unmatched?: UnmatchedTensors;
  /** May be given by whoever makes a trace: the only algorithms by which verify may explain a layer. */
  algorithms?: unknown;
  [other: string]: unknown;
}

/** Tensors that were matched by position and shape. */
export interface MatchedValues {
  /** How many. */
  count: number;
  /** Some of them, in words. */
  values: string[];
}

/** Tensors that fit no value. */
export interface UnmatchedTensors {
  /** How many. */
  count: number;
  /** Some of them. */
  tensors: string[];
}

/** A reading of the memory in use. */
export interface MemoryReading {
  /** Since the start of the run; may be negative. */
  t_ms: number;
  /** In use. */
  bytes: number;
  /** What was read: wasm_heap, process_pss, process_tree_pss, … */
  kind: string;
}

/** A node that ran. */
export interface NodeRecord {
  /** Its name. */
  name: string;
  /** Its operator. */
  op: string;
  /** Names of values. */
  outputs: string[];
  /** One per run; the first includes warming up. */
  time_ns: number[];
  /** True: it depends on no input. */
  constant?: boolean;
}

/** The element furthest beyond its budget, relative to it. */
export interface WorstElement {
  /** Where it is. */
  index: number[];
  /** What was recorded. */
  got: number | null;
  /** What is exact, rounded to the type of the output. */
  want: number | null;
  /** How far rounding can move it at worst. */
  budget: number | null;
}

/** What the budgets of another test suite say about a layer; no verdict depends on it. */
export interface ExternalBudget {
  /** In that suite's words. */
  operators: string;
  /** What the budget limits. */
  metric: BudgetMetric;
  /** The limit. */
  budget: number | null;
  /** The largest error. */
  seen: number | null;
  /** Whether it is within the limit. */
  within: boolean;
}

/** What was found in a layer, as data. The part of the id before the dot is its family: reference, values, range, budget, precision, parameter, … algorithm (a correct algorithm that explains the errors). A faulty variant that computes exactly what was recorded has the numbers budget_before and budget_after. */
export interface Finding {
  /** As `precision.rounded_inputs`. */
  id: string;
  /** By name. */
  numbers?: Record<string, number | null>;
  /** By name. */
  words?: Record<string, string>;
  /** Indices of some elements that it is about. */
  elements?: number[][];
  /** The sentence. */
  text: string;
}

/** An output of a node. */
export interface VerifiedLayer {
  /** The node's name. */
  node: string;
  /** Its operator. */
  op: string;
  /** The name of the value. */
  output: string;
  /** Its sizes. */
  shape: number[];
  /** True: it depends on no input. */
  constant?: boolean;
  /** Missing: there was nothing to compare; reason says why, and it does not count for the whole. */
  verdict: Verdict;
  /** budget */
  budget_used: number | null;
  /** statistical */
  budget_used_statistical: number | null;
  /** max abs */
  max_abs: number | null;
  /** max rel */
  max_rel: number | null;
  /** max ULP */
  max_ulp: number | null;
  /** mean abs */
  mean_abs: number | null;
  /** mean rel */
  mean_rel: number | null;
  /** mean signed z */
  mean_signed_z: number | null;
  /** cosine */
  cosine: number | null;
  /** SQNR */
  sqnr_db: number | null;
  /** differ */
  different_elements: number;
  /** elements */
  elements: number;
  /** NaN */
  nan: number;
  /** infinite */
  inf: number;
  /** Null where no element has an error. */
  worst: WorstElement | null;
  /** Nodes before it that were not recorded and were judged together with it. */
  group?: string[];
  /** The sentences of the findings. */
  reason?: string;
  /** Why it has this verdict, where the budget alone does not say. */
  findings?: Finding[];
  /** With `--budgets wpt`; of another suite under its name. */
  wpt?: ExternalBudget;
}

/** A run that differs from the first. */
export interface LaterDifference {
  /** Counted from 1. */
  run: number;
  /** The first node that differs; empty: an input, which the runtime has overwritten. */
  node: string;
  /** Its operator. */
  op: string;
  /** Its output that differs. */
  value: string;
  /** How many values differ. */
  values: number;
  /** By nothing but signs of zeros. */
  zero_signs: boolean;
  /** budget */
  budget_used?: number | null;
  /** statistical */
  budget_used_statistical?: number | null;
  /** max abs */
  max_abs?: number | null;
  /** max rel */
  max_rel?: number | null;
  /** max ULP */
  max_ulp?: number | null;
  /** mean abs */
  mean_abs?: number | null;
  /** mean rel */
  mean_rel?: number | null;
  /** mean signed z */
  mean_signed_z?: number | null;
  /** cosine */
  cosine?: number | null;
  /** SQNR */
  sqnr_db?: number | null;
  /** differ */
  different_elements?: number;
  /** elements */
  elements?: number;
  /** NaN */
  nan?: number;
  /** infinite */
  inf?: number;
  /** Of the layer in the first run. */
  verdict_first: Verdict;
  /** In this run. */
  verdict: Verdict;
  /** Why they differ other than in elements. */
  reason?: string;
}

/** Whether the runs of a recording agree. */
export interface RepeatCheck {
  /** How many were compared. */
  runs: number;
  /** In each of them. */
  values: number;
  /** Whether all do. */
  agree: boolean;
  /** The sentence. */
  text: string;
  /** In the order of their first runs; at most 16. */
  groups: RunGroup[];
  /** The first run that differs from run 1, and the last where it is another one. */
  different: LaterDifference[];
  /** How many groups there are beyond those. */
  more_groups?: number;
}

/** `baseline save`: The results of a model on its targets, small enough to be committed. */
export interface BaselineDocument {
  /** What this document is. */
  format: "driftscope-baseline-1";
  /** The name of its file. */
  model: string;
  /** Of the .onnx file. */
  model_sha256: string;
  /** As given to `--input`; empty: seed:42. */
  inputs: string[];
  /** Of the program that saved it. */
  build: string;
  /** Where. */
  machine: BaselineMachine;
  /** How. */
  measured: BaselineMeasured;
  /** What was compared. */
  targets: BaselineTarget[];
}

/** `bench --json`: How fast targets are. Times are of unwatched runs, unless capture says otherwise. */
export interface BenchDocument {
  /** What this document is. */
  format: "driftscope-bench-1";
  /** Of this program. */
  build: string;
  /** Where it ran. */
  machine: Machine;
  /** Of the intervals. */
  confidence: number;
  /** Half an interval's width, relative to the median, at which measuring ends. */
  precision: number;
  /** As given to `--input`. */
  input: string;
  /** What the reader must know. */
  notes: string[];
  /** What was measured. */
  results: BenchResult[];
  /** To the bases. */
  ratios: BenchRatio[];
  /** Where there are several models. */
  geometric_means: BenchMean[];
  /** What could not be measured, or not to the end. */
  failed: BenchFailure[];
}

/** `bisect --json`: At which level of an option a target begins to differ. */
export interface BisectDocument {
  /** What this document is. */
  format: "driftscope-bisect-1";
  /** The option. */
  over: string;
  /** Of the .onnx file. */
  model_sha256: string;
  /** In their order. */
  levels: BisectLevel[];
  /** The first level whose outputs differ. */
  differs_at: string | null;
  /** The first level with a worse verdict. */
  verdict_worse_at: string | null;
  /** What changed at these. */
  steps: BisectStep[];
  /** Why nothing is known of the nodes. */
  no_nodes_because?: string;
}

/** `compare --json`, `baseline check --json`: A model on several targets, layer by layer. It has all that the report shows but tensors and the times of single runs of layers. */
export interface CompareDocument {
  /** What this document is. */
  format: "driftscope-compare-1";
  /** One sentence about all of it. */
  headline: string;
  /** The name of its file. */
  model?: string;
  /** Of the .onnx file. */
  model_sha256?: string;
  /** As given to `--input`. */
  input?: string;
  /** The class that it belongs to, where that is known. */
  input_label?: string;
  /** As given to `--dataset`. */
  dataset?: string;
  /** How to run this again. */
  command?: string;
  /** Of the program that compared. */
  build?: string;
  /** Where it ran. */
  machine?: Machine;
  /** By number. */
  class_names?: string[];
  /** What the others are compared with. */
  left: ComparedTarget;
  /** The others. */
  right: ComparedTarget[];
  /** Absent where nothing was checked. */
  gate?: Gate;
}

/** `conformance --json`: ONNX's test cases on targets. */
export interface ConformanceDocument {
  /** What this document is. */
  format: "driftscope-conformance-1";
  /** In the order of `--targets`. */
  targets: ConformanceTarget[];
}

/** `convert-check --json`: An original (a) beside its conversion (b). */
export interface ConvertCheckDocument {
  /** What this document is. */
  format: "driftscope-convert-check-1";
  /** The original. */
  a: CheckedModel;
  /** The conversion. */
  b: CheckedModel;
  /** What ran both. */
  target: string;
  /** As given to `--input`. */
  input: string;
  /** Of the whole. */
  verdict: Verdict;
  /** In words: which layers were judged how. */
  judged_by: string;
  /** Inputs whose axes have another order. */
  reordered?: ValuePair[];
  /** One sentence. */
  headline: string;
  /** The first value that differs by more than rounding. */
  first_parting: string | null;
  /** What explains it. */
  why: Explanation[];
  /** Differences without an effect here. */
  hidden: Explanation[];
  /** Values that both have. */
  layers: CheckedLayer[];
  /** Values of the original alone. */
  only_a: string[];
  /** Values of the conversion alone. */
  only_b: string[];
  /** With `--dataset`. */
  dataset?: DatasetCheck;
}

/** `doctor --json`: What there is on this machine. */
export interface DoctorDocument {
  /** What this document is. */
  format: "driftscope-doctor-1";
  /** All of them. */
  findings: DoctorFinding[];
}

/** `export --json`: Which tensor of an exported model is which value. */
export interface ExportDocument {
  /** What this document is. */
  format: "driftscope-export-1";
  /** Of the model. */
  inputs: string[];
  /** Of the model. */
  outputs: string[];
  /** One per format. */
  models: ExportedModel[];
}

/** `drift.json` of a kept comparison, `compare --save`: Which member of the zip file is what. */
export interface KeptDocument {
  /** What this document is. */
  format: "driftscope-run-1";
  /** Of the program that kept it. */
  build: string;
  /** The model. */
  model: KeptModel;
  /** The member with what the model ran on, safetensors. */
  inputs: string;
  /** The member with the results, driftscope-compare-1. */
  comparison: string;
  /** The member with the nodes of the model. */
  graph: string;
  /** The left one first. */
  targets: KeptTarget[];
}

/** `__metadata__` of a trace, whose entries are texts: of run, nodes and memory JSON texts: What a trace says beside its tensors. In files from elsewhere every key is optional. */
export interface TraceDocument {
  /** What this document is. */
  format: "driftscope-trace-1";
  /** Of the .onnx file. verify and compare refuse a trace of another model. */
  model_sha256?: string;
  /** host/engine[:option=value,…]. */
  target?: string;
  /** What really ran. */
  run?: Run;
  /** In the order they ran. */
  nodes?: NodeRecord[];
  /** Readings during the run. */
  memory?: MemoryReading[];
}

/** `verify --json`: one object; for several traces a list of them: Whether each layer of a trace is what rounding of its own recorded inputs explains. Metrics are those of the target against the exact result from these inputs. */
export interface VerifyDocument {
  /** What this document is. */
  format: "driftscope-verify-1";
  /** Of the .onnx file. */
  model_sha256: string;
  /** What made the trace; empty where it does not say. */
  target: string;
  /** Of the worst layer. */
  verdict: Verdict;
  /** The first faulty node in topological order. */
  first_fault: string | null;
  /** Every output of a node that the trace has, in topological order. */
  layers: VerifiedLayer[];
  /** Where runs were compared. */
  repeat_check?: RepeatCheck;
  /** In words: how values were matched under other names. */
  names?: string;
}
