// What this browser supports, detected without side effects. Clients: page.mjs, job.mjs.
import { variants } from "../worker/engine.mjs";

// Smallest modules that use a feature (https://webassembly.github.io/spec/core/binary/):
// i8x16.splat and popcnt; i8x16.relaxed_swizzle; a try block with catch_all.
const simdModule = [
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98,
  11,
];
const relaxedModule = [
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 15, 1, 13, 0, 65, 1, 253, 15, 65, 2,
  253, 15, 253, 128, 2, 11,
];
const exceptionsModule = [
  0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 10, 8, 1, 6, 0, 6, 64, 25, 11, 11,
];

const validates = (bytes) => {
  try {
    return WebAssembly.validate(new Uint8Array(bytes));
  } catch {
    return false;
  }
};

function hasWebGL2() {
  try {
    const context = document.createElement("canvas").getContext("webgl2");
    context?.getExtension("WEBGL_lose_context")?.loseContext();
    return context !== null;
  } catch {
    return false;
  }
}

async function hasWebGPU() {
  try {
    return (await navigator.gpu?.requestAdapter()) != null;
  } catch {
    return false;
  }
}

/** chrome, firefox or safari: the host part of a target's name. */
function hostName(userAgent) {
  if (/Firefox\//.test(userAgent)) return "firefox";
  return /Chrom(e|ium)\//.test(userAgent) ? "chrome" : "safari";
}

/** "Chrome 156.0.0.0", "Firefox 153.0", "WebKit 605.1.15": what the browser says of itself. */
function browserName(userAgent) {
  const [, name, version] = /(Firefox|Edg|Chromium|Chrome)\/([\d.]+)/.exec(userAgent) ??
    /(AppleWebKit)\/([\d.]+)/.exec(userAgent) ?? ["", "unknown browser", ""];
  return `${name.replace("Apple", "")} ${version}`.trim();
}

export async function detect() {
  const userAgent = navigator.userAgent;
  const isolated = self.crossOriginIsolated === true;
  const threads = isolated && typeof SharedArrayBuffer === "function";
  return {
    host: hostName(userAgent),
    browser: browserName(userAgent),
    userAgent,
    wasm: typeof WebAssembly === "object",
    simd: validates(simdModule),
    relaxedSimd: validates(relaxedModule),
    exceptions: validates(exceptionsModule),
    isolated,
    threads,
    cores: navigator.hardwareConcurrency || 1,
    memoryGb: navigator.deviceMemory ?? null,
    webgl2: hasWebGL2(),
    webgpu: await hasWebGPU(),
  };
}

const noThreads = (here) =>
  here.isolated ? "this browser has no SharedArrayBuffer" : "the page is not cross-origin isolated";

/**
 * The wasm build for this browser and the reason, or why there is none. `asked` ("simd", "relaxed-threads")
 * requires a certain one.
 */
export function pickVariant(here, asked = "") {
  const lacking = [
    [here.wasm, "WebAssembly"],
    [here.simd, "WebAssembly SIMD"],
    [here.exceptions, "WebAssembly exceptions"],
  ].filter(([has]) => !has);
  if (lacking.length > 0)
    return { name: null, why: `this browser lacks ${lacking.map(([, name]) => name).join(", ")}` };
  const names = variants.map(({ name }) => name.replace("driftscope-", ""));
  if (asked && !names.includes(asked))
    return { name: null, why: `there is no build "${asked}"; there are ${names.join(", ")}` };
  const wanted = variants.filter((_, i) => !asked || names[i] === asked);
  const [found] = wanted.filter(
    ({ relaxed, threads }) => (here.relaxedSimd || !relaxed) && (here.threads || !threads),
  );
  if (!found) {
    const why = here.threads || !wanted[0].threads ? "this browser has no relaxed SIMD" : noThreads(here);
    return { name: null, why: `build "${asked}" does not run here: ${why}` };
  }
  const reasons = [
    found.relaxed || here.relaxedSimd
      ? `${found.relaxed ? "relaxed SIMD" : "SIMD128"}`
      : "SIMD128, since this browser has no relaxed SIMD",
    found.threads
      ? "shared memory because the page is cross-origin isolated"
      : `no threads${here.threads ? "" : `: ${noThreads(here)}`}`,
    ...(asked ? ["as asked"] : []),
  ];
  return { ...found, why: reasons.join("; ") };
}

/** The number of threads to prepare: 0 asks for one per core. */
export function threadsFor(variant, here, asked) {
  return variant.threads ? Math.min(asked || here.cores, 64) : 1;
}

/** Facts about a run that only the browser knows, for the trace. */
export function environment(here, variant) {
  return {
    browser: here.browser,
    user_agent: here.userAgent,
    isolated: here.isolated,
    cores: here.cores,
    device_memory_gb: here.memoryGb,
    wasm_variant: variant.name,
    relaxed_simd: here.relaxedSimd,
    webgl2: here.webgl2,
    webgpu: here.webgpu,
    ...here.device, // of a hub: device_facts.mjs
  };
}
