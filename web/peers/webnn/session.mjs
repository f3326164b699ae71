// One graph in WebNN, and its runs. Client: webnn.mjs. The tensors of a run are destroyed with it; what a
// graph itself keeps is the browser's.
import { PeerError } from "../peers.mjs";
import { Calls } from "./calls.mjs";
import { dataTypes, elementsIn } from "./data_types.mjs";
import { Translation } from "./translation.mjs";

const bytesPer = { float32: 4, float16: 2, int64: 8, uint64: 8, int32: 4, uint32: 4, int8: 1, uint8: 1 };

function translated(context, graph, operators, calls = null) {
  const plain = new globalThis.MLGraphBuilder(context);
  const builder = calls?.around(plain) ?? plain;
  const translation = new Translation(builder, context.opSupportLimits(), graph, operators);
  const outputs = translation.run();
  return { builder, outputs, inputs: translation.inputs };
}

/** Whether the browser builds the graph of the first `count` nodes, all of whose values are outputs. */
async function builds(count, context, graph, operators) {
  const nodes = graph.nodes.slice(0, count);
  const outputs = nodes.flatMap((node) => node.outputs).filter((name) => name !== null);
  try {
    const part = translated(context, { ...graph, nodes, outputs }, operators);
    if (Object.keys(part.outputs).length === 0) return true;
    (await part.builder.build(part.outputs)).destroy?.();
    return true;
  } catch {
    return false;
  }
}

/**
 * The error of build(), which names no node, with the first node that makes it fail: the limits do not say
 * everything that a browser cannot do. Found by halving, as a part that fails makes all larger ones fail.
 */
async function rejection(error, context, graph, operators) {
  let [good, bad] = [0, graph.nodes.length];
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (await builds(middle, context, graph, operators)) good = middle;
    else bad = middle;
  }
  // Where all of it builds on its own, the reason lies elsewhere, as in its size.
  if (bad === graph.nodes.length && (await builds(bad, context, graph, operators))) return error;
  const { name, op } = graph.nodes[bad - 1];
  return new PeerError("unsupported", `node '${name}' (${op}): ${error.message}`);
}

export class Session {
  #context;
  #graph = null; // the MLGraph; null if all outputs are constants
  #inputs; // names of the MLGraph's inputs: those of the model that it needs
  #types; // {dtype, shape} by value name
  #constants; // {dtype, shape, data}
  #outputs; // names of the MLGraph's outputs
  calls = ""; // JavaScript, see calls.mjs

  /** `keepsCalls`: `calls` then says how the graph was made. */
  static async open(context, graph, operators, keepsCalls = false) {
    const session = new Session();
    const calls = keepsCalls ? new Calls(graph.constants) : null;
    const { builder, outputs, inputs } = translated(context, graph, operators, calls);
    session.calls = calls?.text(outputs) ?? "";
    session.#context = context;
    session.#outputs = Object.entries(outputs).map(([name, { dataType, shape }]) => ({
      name,
      dataType,
      shape,
    }));
    session.#inputs = inputs;
    session.#types = graph.values;
    session.#constants = graph.constants;
    if (Object.keys(outputs).length === 0) return session;
    try {
      session.#graph = await builder.build(outputs);
    } catch (error) {
      throw await rejection(error, context, graph, operators);
    }
    return session;
  }

  /** Where it runs, if the browser says so. */
  get devices() {
    return Array.from(this.#graph?.devices ?? []).join(" ");
  }

  /** `inputs`: {dtype, shape, buffer} by name; resolves to [{dtype, shape, data}] in the order of `names`. */
  async run(inputs, names) {
    const tensors = [];
    const create = async (dataType, shape, use) => {
      const tensor = await this.#context.createTensor({ dataType, shape, ...use });
      tensors.push(tensor);
      return tensor;
    };
    try {
      const given = {};
      for (const name of this.#inputs) {
        const { dtype, shape, buffer } = inputs[name];
        given[name] = await create(dataTypes[dtype], shape, { writable: true });
        this.#context.writeTensor(given[name], buffer);
      }
      const results = {};
      for (const { name, dataType, shape } of this.#outputs)
        results[name] = await create(dataType, shape, { readable: true });
      if (this.#graph) this.#context.dispatch(this.#graph, given, results);
      const values = [];
      for (const name of names)
        values.push(name in results ? await this.#read(name, results[name]) : this.#constants[name]);
      return values;
    } finally {
      for (const tensor of tensors) tensor.destroy();
    }
  }

  async #read(name, tensor) {
    const { dtype } = this.#types[name];
    const shape = [...tensor.shape];
    const data = new Uint8Array(await this.#context.readTensor(tensor));
    const size = bytesPer[tensor.dataType];
    if (size && data.byteLength !== size * elementsIn(shape))
      throw new Error(`'${name}' of shape [${shape}] came as ${data.byteLength} bytes`);
    return { dtype, shape, data };
  }

  close() {
    this.#graph?.destroy?.();
    this.#graph = null;
  }
}
