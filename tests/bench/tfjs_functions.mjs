// How accurate TensorFlow.js's functions are under Node: the largest errors over many floats, in ULP of the result
// and absolute where the ULP exceed 4. The error models of core/engines/tfjs_cpu and tfjs_wasm quote it.
//
//   node tests/bench/tfjs_functions.mjs cpu|wasm
import { peerOf } from "../e2e/tfjs/peers.mjs";

const chunk = 1 << 18;
const f32 = new Float32Array(1);
const bits = new Uint32Array(f32.buffer);

function ulpOf(x) {
  f32[0] = Math.abs(x);
  if (f32[0] < 2 ** -126) return 2 ** -149;
  bits[0] &= 0x7f800000;
  return f32[0] * 2 ** -23;
}

// 2/√π·e^(−x²)·Σ 2ⁿx^(2n+1)/(2n+1)!!, all terms of one sign.
function erf(x) {
  if (Math.abs(x) > 6) return Math.sign(x);
  let term = x;
  let sum = x;
  for (let n = 1; Math.abs(term) > Math.abs(sum) * 1e-18 && n < 400; ++n) sum += term *= (2 * x * x) / (2 * n + 1);
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
}

const functions = {
  exp: [Math.exp, "Exp"],
  log: [Math.log, "Log"],
  tanh: [Math.tanh, "Tanh"],
  sigmoid: [(x) => 1 / (1 + Math.exp(-x)), "Sigmoid"],
  erf: [erf, "Erf"],
  sin: [Math.sin, "Sin"],
  cos: [Math.cos, "Cos"],
  tan: [Math.tan, "Tan"],
  asin: [Math.asin, "Asin"],
  acos: [Math.acos, "Acos"],
  atan: [Math.atan, "Atan"],
  sinh: [Math.sinh, "Sinh"],
  cosh: [Math.cosh, "Cosh"],
  asinh: [Math.asinh, "Asinh"],
  acosh: [Math.acosh, "Acosh"],
  atanh: [Math.atanh, "Atanh"],
  softplus: [(x) => (x > 0 ? x + Math.log1p(Math.exp(-x)) : Math.log1p(Math.exp(x))), "Softplus"],
  elu: [(x) => (x < 0 ? Math.expm1(x) : x), "Elu"],
  sqrt: [Math.sqrt, "Sqrt"],
  rsqrt: [(x) => 1 / Math.sqrt(x), "Rsqrt"],
  reciprocal: [(x) => 1 / x, "Reciprocal"],
};

/** Floats of every size, every `step`-th, and evenly spaced ones in [−20, 20]. */
function* arguments_(step) {
  let values = [];
  for (let i = 0; i < 2 ** 32; i += step) {
    bits[0] = i;
    if (Number.isFinite(f32[0]) && Math.abs(f32[0]) >= 2 ** -126) values.push(f32[0]);
    if (values.length === chunk) yield Float32Array.from(values.splice(0));
  }
  for (let i = 0; i < 500_000; ++i) values.push(-20 + (40 * i) / 500_000);
  while (values.length > 0) yield Float32Array.from(values.splice(0, chunk));
}

const peer = await peerOf(process.argv[2] ?? "cpu");
const model = {
  format: "graph-model",
  modelTopology: {
    versions: { producer: 1 },
    node: [
      { name: "x", op: "Placeholder", attr: { dtype: { type: "DT_FLOAT" } } },
      ...Object.entries(functions).map(([name, [, op]]) => ({ name, op, input: ["x"], attr: {} })),
    ],
  },
  weightsManifest: [],
};
const data = new TextEncoder().encode(JSON.stringify(model));
const session = await peer.open({ converted: [{ name: "model.json", data }], options: {}, threads: 1 });
for (const [name, [exact]] of Object.entries(functions)) {
  const worst = { ulp: 0, at: 0, absolute: 0, absolute_at: 0, special: 0 };
  for (const x of arguments_(Number(process.argv[3] ?? 4093))) {
    const { values } = await peer.run(session, { x: peer.tensor("float32", [x.length], x.slice().buffer) }, [name]);
    values[0].data.forEach((got, i) => {
      const want = exact(x[i]);
      const rounded = Math.fround(want);
      if (Object.is(got, rounded) || got === rounded || (Number.isNaN(got) && Number.isNaN(rounded))) return;
      const error = Math.abs(got - want);
      if (!Number.isFinite(error)) {
        if (worst.special === 0 && Math.abs(want) < 3e38) worst.special = x[i];
        return;
      }
      if (Math.abs(want) < 2 ** -126) return;
      const ulp = error / ulpOf(want);
      if (ulp > worst.ulp) [worst.ulp, worst.at] = [ulp, x[i]];
      if (ulp > 4 && error > worst.absolute) [worst.absolute, worst.absolute_at] = [error, x[i]];
    });
  }
  console.log(name, worst);
}
peer.release(session);
