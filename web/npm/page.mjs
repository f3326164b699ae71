// A team's own page as a target: its results are fetched through its test runner's page (Playwright's
// or Puppeteer's: anything with evaluate and evaluateHandle), become a trace, and are compared.
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { compare } from "./compare.mjs";
import { encodeTrace } from "./trace.mjs";

/* Runs in the page. Typed arrays do not survive every runner's way back; base64 does. */
async function packInPage(result) {
  const tensors = await result;
  const base64 = (bytes) => {
    let text = "";
    for (let i = 0; i < bytes.length; i += 0x8000)
      text += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
    return btoa(text);
  };
  const packed = {};
  for (const [name, tensor] of Object.entries(tensors)) {
    const data = Array.isArray(tensor.data) ? Float32Array.from(tensor.data) : tensor.data;
    if (!ArrayBuffer.isView(data))
      throw new TypeError(`tensor "${name}": data must be a typed array or an array of numbers`);
    packed[name] = {
      array: data.constructor.name,
      dtype: tensor.dtype ?? tensor.type,
      shape: Array.from(tensor.shape ?? tensor.dims ?? []),
      bytes: base64(new Uint8Array(data.buffer, data.byteOffset, data.byteLength)),
    };
  }
  return { packed, userAgent: navigator.userAgent };
}

const fallbackKinds = { Float16Array: "float16" };

function unpacked({ array, dtype, shape, bytes }) {
  const raw = Uint8Array.from(Buffer.from(bytes, "base64"));
  const kind = globalThis[array];
  return { shape, dtype: dtype ?? fallbackKinds[array], data: kind ? new kind(raw.buffer) : raw };
}

/** {tensors, userAgent}: the result of `collect(arg)` in the page. */
export async function tensorsFromPage(page, collect, arg) {
  // Two steps, so that no text is compiled in the page: its policy may forbid that.
  const handle = await page.evaluateHandle(collect, arg);
  try {
    const { packed, userAgent } = await page.evaluate(packInPage, handle);
    const tensors = Object.fromEntries(Object.entries(packed).map(([name, one]) => [name, unpacked(one)]));
    if (Object.keys(tensors).length === 0) throw new TypeError("driftscope: collect returned no tensor");
    return { tensors, userAgent };
  } finally {
    await handle.dispose?.();
  }
}

export async function comparePage({ page, collect, arg, name = "page", engine = "page", ...options }) {
  const { tensors, userAgent } = await tensorsFromPage(page, collect, arg);
  const folder = await mkdtemp(join(tmpdir(), "driftscope-"));
  try {
    const trace = join(folder, `${name.replace(/[^\w.-]/g, "_")}.safetensors`);
    const model_sha256 = createHash("sha256")
      .update(await readFile(options.model))
      .digest("hex");
    const run = JSON.stringify({ engine, host: "page", user_agent: userAgent });
    await writeFile(trace, encodeTrace(tensors, { model_sha256, target: `page/${name}`, run }));
    // The left target runs on the same inputs as the page: the trace holds them.
    return await compare({ input: trace, ...options, right: `file/${trace}` });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
