"""The documents that the program writes, made by tools/documents from core/protocol/documents; not edited.

A number that may be infinite is then ±1.7976931348623157e308; NaN is None. An object that is open may
have other keys, too."""

from typing import Any, Literal, Optional, TypedDict, Union

BenchEnd = Literal["precise", "time", "runs", "failed", "stopped"]
CheckKind = Literal["fault", "suspect", "unjudged", "top1", "bits", "unrepeatable", "growing", "slower", "run", ""]
TimeKind = Literal["unknown", "layers", "watched", "unwatched"]
ErrorKind = Literal["bad_input", "unsupported", "limit", "missing", "io", "cancelled", "internal"]
Outcome = Literal["passed", "failed", "not supported"]
FoundBy = Literal["given", "name", "structure", "values"]
Growth = Literal["flat", "unclear", "grows"]
Verdict = Literal["identical", "rounding", "unjudged", "suspect", "fault", "missing"]
BudgetMetric = Literal["ulp", "absolute"]


class KnownLayer(TypedDict):
    """A layer that was unjudged, suspect or a fault."""

    node: str
    output: str
    verdict: Verdict


class BaselineTarget(TypedDict):
    """A target of the baseline."""

    target: str
    ran: str
    known: list["KnownLayer"]
    top1: list[int]
    outputs_sha256: str
    medians_ns: list[float]


class BaselineMachine(TypedDict):
    """Where times were measured."""

    cpu: str
    cores: int


class BaselineMeasured(TypedDict):
    """How times were measured."""

    starts: int
    seconds: float


class _Machine(TypedDict):
    cpu: str
    cores: int


class Machine(_Machine, total=False):
    """A computer."""

    memory_bytes: int
    system: str
    governor: str
    load_1min: float
    busy_share: float


class Download(TypedDict):
    """What a browser fetches."""

    bytes: int
    raw_bytes: int
    engine_bytes: int
    engine_raw_bytes: int
    model_bytes: int


class Slope(TypedDict):
    """What each further run adds."""

    per_run: Optional[float]
    interval: Optional[list[Optional[float]]]


class Alive(TypedDict):
    """What is in use after the last run."""

    tensors: int
    bytes: int
    tensors_slope: Optional["Slope"]
    heap_bytes_slope: Optional["Slope"]


class _BenchResult(TypedDict):
    model: str
    target: str
    batch: int
    capture: str
    load_ms: Optional[float]
    first_ms: Optional[float]
    median_ms: Optional[float]
    median_interval_ms: Optional[list[Optional[float]]]
    p95_ms: Optional[float]
    min_ms: Optional[float]
    mad_ms: Optional[float]
    runs: int
    rounds: int
    inner_runs: int
    clock_ns: Optional[float]
    warm_up_runs: int
    steady: bool
    ended_by: BenchEnd
    throughput_per_s: Optional[float]
    product_flop: Optional[float]
    gflop_per_s: Optional[float]
    wasm_heap_peak_bytes: Optional[int]
    process_peak_bytes: Optional[int]
    download_bytes: Optional[int]
    download: "Download"
    start_ms: Optional[float]
    alive: "Alive"
    model_sha256: str
    build: str
    ran: "Run"


class BenchResult(_BenchResult, total=False):
    """A model on a target."""

    error: str
    load: dict[str, Optional[float]]


class BenchRatio(TypedDict):
    """A target beside a base."""

    model: str
    target: str
    base: str
    base_untraced: bool
    group: str
    times_as_fast: Optional[float]
    interval: Optional[list[Optional[float]]]


class BenchMean(TypedDict):
    """The geometric mean of such ratios over models."""

    target: str
    base: str
    base_untraced: bool
    group: str
    models: int
    times_as_fast: Optional[float]
    interval: Optional[list[Optional[float]]]


class BenchFailure(TypedDict):
    """A target that could not be measured."""

    model: str
    target: str
    batch: int
    error: str


class NamedNode(TypedDict):
    """A node."""

    name: str
    op: str


class _BisectLevel(TypedDict):
    level: str
    target: str


class BisectLevel(_BisectLevel, total=False):
    """A level; what follows the error is there where it ran."""

    error: str
    differs: bool
    different_elements: int
    elements: int
    max_abs: Optional[float]
    max_ulp: Optional[float]
    verdict: Verdict
    first_fault: Optional[str]
    values: int
    nodes: int


class BisectFirst(TypedDict):
    """The first value that differs."""

    value: str
    node: str
    op: str
    different_elements: int
    elements: int
    max_abs: Optional[float]
    max_ulp: Optional[float]
    verdict_from: Verdict
    verdict_to: Verdict


class BisectReplaced(TypedDict):
    """Nodes that the optimiser replaced."""

    nodes: list["NamedNode"]
    by: list["NamedNode"]
    outputs: list[str]


# From one level to the next.
BisectStep = TypedDict("BisectStep", {
    "from": str,
    "to": str,
    "first": Optional["BisectFirst"],
    "culprit": Optional[int],
    "replaced": list["BisectReplaced"],
    "vanished": list[str],
})


class _RunTime(TypedDict):
    ns: float
    kind: TimeKind
    first_ns: float
    runs: int
    layers: str


class RunTime(_RunTime, total=False):
    """Of one run of the whole model. Only times of one kind may be compared."""

    error: str


class OutputAgreement(TypedDict):
    """The best class of the first output."""

    top1_left: int
    top1_right: int
    agree: bool


class Peak(TypedDict):
    """The largest reading of the memory in use."""

    peak_bytes: int
    kind: str


class _DatasetResult(TypedDict):
    samples: int
    correct: Optional[int]
    agree: Optional[int]


class DatasetResult(_DatasetResult, total=False):
    """A target over a data set."""

    predictions: list[int]


class _ComparedLayer(TypedDict):
    node: str
    op: str
    output: str
    shape: list[int]
    place: int
    max_abs: Optional[float]
    max_rel: Optional[float]
    max_ulp: Optional[float]
    mean_abs: Optional[float]
    mean_rel: Optional[float]
    cosine: Optional[float]
    sqnr_db: Optional[float]
    kl: Optional[float]
    different_elements: int
    elements: int
    nan: int
    inf: int
    left_ns: int
    right_ns: int
    verdict: Verdict


class ComparedLayer(_ComparedLayer, total=False):
    """An output of a node, on this target and the left one. Metrics are those of this target against the left one."""

    constant: bool
    unrecorded: bool
    reason: str


class _ComparedTarget(TypedDict):
    target: str


class ComparedTarget(_ComparedTarget, total=False):
    """A target. The left one, and one that did not run, lack what compares it with the left one."""

    verify: "VerifyDocument"
    first_divergence: Optional[str]
    layers: list["ComparedLayer"]
    output: "OutputAgreement"
    memory: "Peak"
    time: "RunTime"
    error: str
    error_kind: ErrorKind
    dataset: "DatasetResult"
    ran: "Run"
    peak_memory: "MemoryReading"
    observer_check: "ObserverCheck"
    memory_runs: "MemoryRuns"
    names: str


class Check(TypedDict):
    """A condition of a target."""

    target: str
    name: str
    kind: CheckKind
    message: str


class Gate(TypedDict):
    """What `--fail-on` decided."""

    fail_on: str
    passed: bool
    checks: int
    failures: list["Check"]
    errors: list["Check"]
    skipped: list["Check"]


class TargetError(TypedDict):
    """Why a target did not run."""

    kind: ErrorKind
    message: str


class SameBits(TypedDict):
    """Compared with the first target of the same engine."""

    compared: int
    same: int


class _ConformanceCase(TypedDict):
    family: str
    name: str
    result: Outcome
    operators: list[str]


class ConformanceCase(_ConformanceCase, total=False):
    """A test case."""

    reason: str
    same_bits: bool
    lost_before: str


class _ConformanceTarget(TypedDict):
    target: str


class ConformanceTarget(_ConformanceTarget, total=False):
    """A target; one that did not run has an error and nothing else."""

    error: "TargetError"
    passed: int
    failed: int
    not_supported: int
    same_bits: "SameBits"
    cases: list["ConformanceCase"]


class _CheckedModel(TypedDict):
    path: str
    kind: str
    bytes: int


class CheckedModel(_CheckedModel, total=False):
    """One of the two."""

    load_ms: Optional[float]
    nodes: int
    weights: int
    notes: list[str]


class ValuePair(TypedDict):
    """Two values that are the same."""

    a: str
    b: str
    order: list[int]


class Drift(TypedDict):
    """The conversion against the original."""

    max_abs: Optional[float]
    max_rel: Optional[float]
    mean_abs: Optional[float]
    mean_rel: Optional[float]
    max_ulp: Optional[float]
    cosine: Optional[float]
    sqnr_db: Optional[float]
    different_elements: int
    elements: int


class _OwnError(TypedDict):
    budget_used: Optional[float]
    budget_used_statistical: Optional[float]
    max_abs: Optional[float]
    max_rel: Optional[float]
    max_ulp: Optional[float]
    mean_abs: Optional[float]
    mean_rel: Optional[float]
    mean_signed_z: Optional[float]
    cosine: Optional[float]
    sqnr_db: Optional[float]
    different_elements: int
    elements: int
    nan: int
    inf: int


class OwnError(_OwnError, total=False):
    """Of the layer itself, from its own inputs."""

    group: list[str]
    reason: str


class _CheckedLayer(TypedDict):
    a: str
    b: str
    by: FoundBy
    shape: list[int]
    drift: Optional["Drift"]


class CheckedLayer(_CheckedLayer, total=False):
    """A value that both have."""

    order: list[int]
    node_a: str
    op_a: str
    node_b: str
    op_b: str
    output: bool
    reason: str
    verdict: Verdict
    own: "OwnError"


class _Explanation(TypedDict):
    layer: str
    cause: str
    text: str
    confirmed: Optional[bool]


class Explanation(_Explanation, total=False):
    """Why a layer differs."""

    node_a: str
    node_b: str


class _DatasetCheck(TypedDict):
    text: str
    samples: int
    top1_agree: int
    drift: "Drift"


class DatasetCheck(_DatasetCheck, total=False):
    """Both over a data set."""

    correct_a: int
    correct_b: int


class DoctorFinding(TypedDict):
    """Something that targets need."""

    what: str
    ok: bool
    detail: str


class ExportedFile(TypedDict):
    """A file that was written."""

    name: str
    bytes: int


class ExportedValue(TypedDict):
    """Where a value of the model is."""

    tensor: str
    order: list[int]
    dtype: str


class ExportedModel(TypedDict):
    """The model in one format."""

    format: str
    path: str
    files: list["ExportedFile"]
    values: dict[str, "ExportedValue"]
    without: dict[str, str]
    facts: dict[str, str]


class KeptFile(TypedDict):
    """A file of the model."""

    name: str
    member: str


class KeptModel(TypedDict):
    """The model."""

    name: str
    sha256: str
    files: list["KeptFile"]


class KeptTarget(TypedDict):
    """A target of the comparison."""

    target: str
    trace: Optional[str]


class MemoryRuns(TypedDict):
    """Memory over many runs."""

    runs: int
    stopped: str
    verdict: Growth
    text: str
    kinds: list["MemoryKind"]


class MemoryKind(TypedDict):
    """One kind of memory over runs."""

    kind: str
    exact: bool
    verdict: Growth
    bytes_per_run: Optional[float]
    low: Optional[float]
    high: Optional[float]
    samples: list[list[int]]


class _ObserverCheck(TypedDict):
    changed: bool
    different_elements: int
    elements: int
    max_ulp: Optional[float]


class ObserverCheck(_ObserverCheck, total=False):
    """The outputs of a run that was recorded beside those of one that was not."""

    reason: str


class _RecordedRepeats(TypedDict):
    runs: int
    values: int
    agree: bool
    groups: list["RunGroup"]
    different: list["RecordedDifference"]


class RecordedRepeats(_RecordedRepeats, total=False):
    """As repeat_check of verify, without verdicts."""

    more_groups: int


class _RecordedDifference(TypedDict):
    run: int
    value: str
    node: str
    op: str
    values: int
    zero_signs: bool


class RecordedDifference(_RecordedDifference, total=False):
    """A run that differs from the first."""

    reason: str


class RunGroup(TypedDict):
    """Runs of one recording that agree with each other bit for bit."""

    first: int
    last: int
    runs: int


class RunTimes(TypedDict, total=False):
    """Times of the whole model."""

    watched_ns: list[int]
    unwatched: "UnwatchedTimes"


class UnwatchedTimes(TypedDict, total=False):
    """Of runs in which nothing was recorded: all but error, or error alone."""

    median_ns: float
    first_ns: float
    runs: int
    readings_ns: list[float]
    error: str


class Run(TypedDict, total=False):
    """What really ran."""

    engine: str
    instruction_set: str
    device: str
    threads_asked: int
    threads_real: int
    options: dict[str, Union[str, float, bool, None]]
    platform: str
    compiler: str
    start_time: str
    repeat: int
    capture: str
    host: str
    browser: str
    browser_version: str
    user_agent: str
    isolated: bool
    cores: int
    device_memory_gb: Optional[float]
    wasm_variant: str
    times: "RunTimes"
    repeat_check: "RecordedRepeats"
    observer_check: "ObserverCheck"
    memory_runs: "MemoryRuns"
    matched_by_position: "MatchedValues"
    unmatched: "UnmatchedTensors"
    algorithms: Any


class MatchedValues(TypedDict):
    """Tensors that were matched by position and shape."""

    count: int
    values: list[str]


class UnmatchedTensors(TypedDict):
    """Tensors that fit no value."""

    count: int
    tensors: list[str]


class MemoryReading(TypedDict):
    """A reading of the memory in use."""

    t_ms: float
    bytes: int
    kind: str


class _NodeRecord(TypedDict):
    name: str
    op: str
    outputs: list[str]
    time_ns: list[int]


class NodeRecord(_NodeRecord, total=False):
    """A node that ran."""

    constant: bool


class WorstElement(TypedDict):
    """The element furthest beyond its budget, relative to it."""

    index: list[int]
    got: Optional[float]
    want: Optional[float]
    budget: Optional[float]


class ExternalBudget(TypedDict):
    """What the budgets of another test suite say about a layer; no verdict depends on it."""

    operators: str
    metric: BudgetMetric
    budget: Optional[float]
    seen: Optional[float]
    within: bool


class _Finding(TypedDict):
    id: str
    text: str


class Finding(_Finding, total=False):
    """What was found in a layer, as data. The part of the id before the dot is its family: reference, values, range,
    budget, precision, parameter, … algorithm (a correct algorithm that explains the errors). A faulty variant
    that computes exactly what was recorded has the numbers budget_before and budget_after."""

    numbers: dict[str, Optional[float]]
    words: dict[str, str]
    elements: list[list[int]]


class _VerifiedLayer(TypedDict):
    node: str
    op: str
    output: str
    shape: list[int]
    verdict: Verdict
    budget_used: Optional[float]
    budget_used_statistical: Optional[float]
    max_abs: Optional[float]
    max_rel: Optional[float]
    max_ulp: Optional[float]
    mean_abs: Optional[float]
    mean_rel: Optional[float]
    mean_signed_z: Optional[float]
    cosine: Optional[float]
    sqnr_db: Optional[float]
    different_elements: int
    elements: int
    nan: int
    inf: int
    worst: Optional["WorstElement"]


class VerifiedLayer(_VerifiedLayer, total=False):
    """An output of a node."""

    constant: bool
    group: list[str]
    reason: str
    findings: list["Finding"]
    wpt: "ExternalBudget"


class _LaterDifference(TypedDict):
    run: int
    node: str
    op: str
    value: str
    values: int
    zero_signs: bool
    verdict_first: Verdict
    verdict: Verdict


class LaterDifference(_LaterDifference, total=False):
    """A run that differs from the first."""

    budget_used: Optional[float]
    budget_used_statistical: Optional[float]
    max_abs: Optional[float]
    max_rel: Optional[float]
    max_ulp: Optional[float]
    mean_abs: Optional[float]
    mean_rel: Optional[float]
    mean_signed_z: Optional[float]
    cosine: Optional[float]
    sqnr_db: Optional[float]
    different_elements: int
    elements: int
    nan: int
    inf: int
    reason: str


class _RepeatCheck(TypedDict):
    runs: int
    values: int
    agree: bool
    text: str
    groups: list["RunGroup"]
    different: list["LaterDifference"]


class RepeatCheck(_RepeatCheck, total=False):
    """Whether the runs of a recording agree."""

    more_groups: int


class BaselineDocument(TypedDict):
    """`baseline save`: The results of a model on its targets, small enough to be committed."""

    format: Literal["driftscope-baseline-1"]
    model: str
    model_sha256: str
    inputs: list[str]
    build: str
    machine: "BaselineMachine"
    measured: "BaselineMeasured"
    targets: list["BaselineTarget"]


class BenchDocument(TypedDict):
    """`bench --json`: How fast targets are. Times are of unwatched runs, unless capture says otherwise."""

    format: Literal["driftscope-bench-1"]
    build: str
    machine: "Machine"
    confidence: float
    precision: float
    input: str
    notes: list[str]
    results: list["BenchResult"]
    ratios: list["BenchRatio"]
    geometric_means: list["BenchMean"]
    failed: list["BenchFailure"]


class _BisectDocument(TypedDict):
    format: Literal["driftscope-bisect-1"]
    over: str
    model_sha256: str
    levels: list["BisectLevel"]
    differs_at: Optional[str]
    verdict_worse_at: Optional[str]
    steps: list["BisectStep"]


class BisectDocument(_BisectDocument, total=False):
    """`bisect --json`: At which level of an option a target begins to differ."""

    no_nodes_because: str


class _CompareDocument(TypedDict):
    format: Literal["driftscope-compare-1"]
    headline: str
    left: "ComparedTarget"
    right: list["ComparedTarget"]


class CompareDocument(_CompareDocument, total=False):
    """`compare --json`, `baseline check --json`: A model on several targets, layer by layer. It has all that the
    report shows but tensors and the times of single runs of layers."""

    model: str
    model_sha256: str
    input: str
    input_label: str
    dataset: str
    command: str
    build: str
    machine: "Machine"
    class_names: list[str]
    gate: "Gate"


class ConformanceDocument(TypedDict):
    """`conformance --json`: ONNX's test cases on targets."""

    format: Literal["driftscope-conformance-1"]
    targets: list["ConformanceTarget"]


class _ConvertCheckDocument(TypedDict):
    format: Literal["driftscope-convert-check-1"]
    a: "CheckedModel"
    b: "CheckedModel"
    target: str
    input: str
    verdict: Verdict
    judged_by: str
    headline: str
    first_parting: Optional[str]
    why: list["Explanation"]
    hidden: list["Explanation"]
    layers: list["CheckedLayer"]
    only_a: list[str]
    only_b: list[str]


class ConvertCheckDocument(_ConvertCheckDocument, total=False):
    """`convert-check --json`: An original (a) beside its conversion (b)."""

    reordered: list["ValuePair"]
    dataset: "DatasetCheck"


class DoctorDocument(TypedDict):
    """`doctor --json`: What there is on this machine."""

    format: Literal["driftscope-doctor-1"]
    findings: list["DoctorFinding"]


class ExportDocument(TypedDict):
    """`export --json`: Which tensor of an exported model is which value."""

    format: Literal["driftscope-export-1"]
    inputs: list[str]
    outputs: list[str]
    models: list["ExportedModel"]


class KeptDocument(TypedDict):
    """`drift.json` of a kept comparison, `compare --save`: Which member of the zip file is what."""

    format: Literal["driftscope-run-1"]
    build: str
    model: "KeptModel"
    inputs: str
    comparison: str
    graph: str
    targets: list["KeptTarget"]


class _TraceDocument(TypedDict):
    format: Literal["driftscope-trace-1"]


class TraceDocument(_TraceDocument, total=False):
    """`__metadata__` of a trace, whose entries are texts: of run, nodes and memory JSON texts: What a trace says
    beside its tensors. In files from elsewhere every key is optional."""

    model_sha256: str
    target: str
    run: "Run"
    nodes: list["NodeRecord"]
    memory: list["MemoryReading"]


class _VerifyDocument(TypedDict):
    format: Literal["driftscope-verify-1"]
    model_sha256: str
    target: str
    verdict: Verdict
    first_fault: Optional[str]
    layers: list["VerifiedLayer"]


class VerifyDocument(_VerifyDocument, total=False):
    """`verify --json`: one object; for several traces a list of them: Whether each layer of a trace is what rounding
    of its own recorded inputs explains. Metrics are those of the target against the exact result from these
    inputs."""

    repeat_check: "RepeatCheck"
    names: str
