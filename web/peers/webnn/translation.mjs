// Our graph (core/engines/peer/graph_json.hpp) as an MLGraph: operands by value name, each operator by its
// function in operators/. Every call of MLGraphBuilder is checked against opSupportLimits() before, so that
// an error names node, operator and reason. Clients: webnn.mjs, tests (with a builder that records).
import { PeerError } from "../peers.mjs";
import { arrayOf, boundsIn, dataTypes, elementsIn, isExtreme, numbersIn } from "./data_types.mjs";

/** What WebNN cannot do with a node, in our words. */
export class Declined extends Error {}

/** Throws a Declined. */
export const decline = (why) => {
  throw new Declined(why);
};

const isOperand = (value) =>
  value !== null && typeof value === "object" && "dataType" in value && "shape" in value;

/** One node, as the functions of operators/ see it. */
export class Operation {
  #translation;
  #node;

  constructor(translation, node) {
    this.#translation = translation;
    this.#node = node;
    this.label = node.name || node.op;
  }

  get op() {
    return this.#node.op;
  }
  get opset() {
    return this.#node.opset;
  }
  get inputs() {
    return this.#node.inputs.length;
  }

  has(i) {
    return (this.#node.inputs[i] ?? null) !== null;
  }

  /** The operand of input i; null where it is left out. */
  input(i) {
    return this.has(i) ? this.#translation.operand(this.#node.inputs[i]) : null;
  }

  /** The same node with these operands as its inputs (null: left out), for operators composed of others. */
  withInputs(operands) {
    const other = new Operation(this.#translation, this.#node);
    other.input = (i) => operands[i] ?? null;
    return other;
  }

  /** Operands of all inputs. */
  all() {
    return this.#node.inputs.map((_, i) => this.input(i));
  }

  /** ONNX's type of input i. */
  dtype(i) {
    return this.#translation.typeOf(this.#node.inputs[i]).dtype;
  }

  /** The shape of input i, without reading it: what no operator reads is not an input of the MLGraph. */
  shape(i) {
    return this.#translation.typeOf(this.#node.inputs[i]).shape ?? this.input(i).shape;
  }

  /** The numbers of input i, which WebNN wants when the graph is built; null where it is left out. */
  numbers(i, what) {
    return this.has(i) ? numbersIn(this.#known(i, what)) : null;
  }

  /** The same of numbers that say how far to go at most; those beyond 2⁵³ are clamped. */
  bounds(i, what) {
    return this.has(i) ? boundsIn(this.#known(i, what)) : null;
  }

  /** Whether input i is a constant that bounds nothing: the least or the largest int64. */
  boundsNothing(i) {
    return this.isConstant(i) && isExtreme(this.#translation.constants[this.#node.inputs[i]]);
  }

  #known(i, what) {
    const name = this.#node.inputs[i];
    const constant = this.#translation.constants[name];
    if (!constant)
      decline(`WebNN wants ${what} as numbers when the graph is built, '${name}' is known only in the run`);
    return constant;
  }

  isConstant(i) {
    return this.has(i) && this.#node.inputs[i] in this.#translation.constants;
  }

  attribute(name, otherwise) {
    return this.#node.attributes[name] ?? otherwise;
  }

  /** Names of the requested outputs: null where they are left out. */
  wants(i) {
    return (this.#node.outputs[i] ?? null) !== null;
  }

  /** ONNX's type of output i. */
  outputDtype(i = 0) {
    return this.#translation.typeOf(this.#node.outputs[i]).dtype;
  }

  /** {dtype, shape} of output i, in ONNX's terms. */
  output(i = 0) {
    const type = this.#translation.typeOf(this.#node.outputs[i]);
    if (!type.shape) decline(`the shape of its output ${i} is not known before the run`);
    return type;
  }

  /** An axis that may count from the end, of a tensor of this rank. */
  axis(axis, rank) {
    if (!Number.isInteger(axis) || axis < -rank || axis >= Math.max(rank, 1))
      decline(`axis ${axis} is not one of a tensor of rank ${rank}`);
    return axis < 0 ? axis + rank : axis;
  }

  /**
   * Calls method(...operands, ...args, {...options, label}). `operands`: by the names that opSupportLimits()
   * has for them, in the order of the arguments; those in `options` are checked as well.
   */
  make(method, operands, args = [], options = {}) {
    const { builder } = this.#translation;
    if (typeof builder[method] !== "function") decline(`this browser's WebNN has no ${method}`);
    for (const [name, operand] of Object.entries(operands)) this.#check(method, name, operand);
    for (const [name, value] of Object.entries(options))
      if (isOperand(value)) this.#check(method, name, value);
    const given = Object.fromEntries(
      Object.entries(options).filter(([, v]) => v !== undefined && v !== null),
    );
    return builder[method](...Object.values(operands), ...args, { ...given, label: this.label });
  }

  /** A method of one operand. */
  unary(method, input, options) {
    return this.make(method, { input }, [], options);
  }

  /** A method of two operands. */
  binary(method, a, b) {
    return this.make(method, { a, b });
  }

  /** Whether a method takes operands of this WebNN type. */
  takes(method, name, dataType) {
    const limit = this.#translation.limits[method]?.[name];
    return !limit?.dataTypes || limit.dataTypes.includes(dataType);
  }

  reshape(input, shape) {
    return this.make("reshape", { input }, [shape]);
  }

  transpose(input, permutation) {
    return this.make("transpose", { input }, [], { permutation });
  }

  cast(input, dataType) {
    return input.dataType === dataType ? input : this.make("cast", { input }, [dataType]);
  }

  /** A constant of these numbers, of a WebNN type. */
  constant(dataType, shape, numbers) {
    if (elementsIn(shape) === 0) decline("WebNN has no tensors without elements");
    return this.#translation.constant({ dataType, shape }, arrayOf(dataType, numbers));
  }

  scalar(dataType, number) {
    return this.constant(dataType, [], [number]);
  }

  /** The constant of a tensor as graph_json has it. */
  tensor(tensor) {
    return this.#translation.constantOperand(tensor);
  }

  #check(method, name, operand) {
    for (const one of Array.isArray(operand) ? operand : [operand]) {
      const limit = this.#translation.limits[method]?.[name];
      if (!limit) continue;
      const { dataTypes: types, rankRange: ranks } = limit;
      if (types && !types.includes(one.dataType))
        decline(`${method} takes ${types.join(", ") || "no type"} as its ${name} here, not ${one.dataType}`);
      const rank = one.shape.length;
      if (ranks && (rank < ranks.min || rank > ranks.max))
        decline(`${method} takes a rank from ${ranks.min} to ${ranks.max} as its ${name} here, not ${rank}`);
    }
  }
}

export class Translation {
  #operands = new Map();
  #inputs = new Set();
  #leaves = new WeakSet(); // inputs and constants
  #graph;
  #operators;

  /** `limits`: opSupportLimits(). `operators`: functions by ONNX's operator type. */
  constructor(builder, limits, graph, operators) {
    this.builder = builder;
    this.limits = limits;
    this.#graph = graph;
    this.#operators = operators;
  }

  get constants() {
    return this.#graph.constants;
  }

  typeOf(name) {
    return this.#graph.values[name];
  }

  operand(name) {
    const known = this.#operands.get(name);
    if (known) return known;
    const constant = this.constants[name];
    const made = constant ? this.constantOperand(constant) : this.#input(name);
    this.#operands.set(name, made);
    return made;
  }

  /** Names of the inputs that were read: the others are not inputs of the MLGraph. */
  get inputs() {
    return [...this.#inputs];
  }

  constantOperand({ dtype, shape, data }) {
    return this.constant(descriptor("a constant", dtype, shape), data.slice().buffer);
  }

  constant(described, data) {
    return this.#leaf(this.builder.constant(described, data));
  }

  #leaf(operand) {
    this.#leaves.add(operand);
    return operand;
  }

  /** The operands of the graph's outputs, but those that are its constants, by name: what build() takes. */
  run() {
    for (const node of this.#needed()) this.#translate(node);
    return this.#outputs();
  }

  // The nodes that contribute to the outputs, in order: build() would drop the others, and the inputs that
  // only they read.
  #needed() {
    const names = new Set(this.#graph.outputs);
    const nodes = this.#graph.nodes.toReversed().filter((node) => {
      const needed = node.outputs.some((name) => names.has(name) && !(name in this.constants));
      if (needed) node.inputs.forEach((name) => names.add(name));
      return needed;
    });
    return nodes.reverse();
  }

  #input(name) {
    if (!this.#graph.inputs.includes(name)) throw new Error(`'${name}' is read before it is made`);
    const { dtype, shape } = this.typeOf(name);
    if (!shape) throw new PeerError("unsupported", `webnn: input '${name}' has no fixed shape`, true);
    this.#inputs.add(name);
    return this.#leaf(this.builder.input(name, descriptor(`input '${name}'`, dtype, shape)));
  }

  #translate(node) {
    const inNode = (message) => `${node.name ? `node '${node.name}'` : "a node"} (${node.op}): ${message}`;
    try {
      const translate = node.domain ? null : this.#operators[node.op];
      if (!translate) decline(`WebNN cannot express ${node.domain ? `operators of ${node.domain}` : "it"}`);
      const made = translate(new Operation(this, node));
      const results = Array.isArray(made) ? made : [made];
      node.outputs.forEach((name, i) => {
        if (name !== null) this.#operands.set(name, this.#expected(name, results[i]));
      });
    } catch (error) {
      if (error instanceof PeerError) throw error;
      // A TypeError of the builder is the browser's, all else ours.
      const own = error instanceof Declined || !(error instanceof TypeError || error instanceof DOMException);
      const message = own ? `webnn: ${inNode(error.message)}` : inNode(error.message);
      throw new PeerError("unsupported", message, own);
    }
  }

  // Checks a result against what the graph says of its value.
  #expected(name, operand) {
    const { dtype, shape } = this.typeOf(name);
    if (!operand) decline(`WebNN does not give its output '${name}'`);
    const dataType = dataTypes[dtype];
    if (!dataType) decline(`its output '${name}' is ${dtype}, which WebNN does not support`);
    const fits =
      !shape || (shape.length === operand.shape.length && shape.every((n, i) => n === operand.shape[i]));
    if (operand.dataType !== dataType || !fits)
      decline(
        `its output '${name}' would be ${operand.dataType}[${operand.shape}], expected ${dataType}[${shape}]`,
      );
    return operand;
  }

  // An input, a constant of an operator or an operand under two names cannot be an output as it is. Values
  // that are constants of the graph need not pass through WebNN.
  #outputs() {
    const outputs = {};
    const taken = new Set();
    for (const name of new Set(this.#graph.outputs)) {
      if (name in this.constants) continue;
      let operand = this.operand(name);
      if (taken.has(operand) || this.#leaves.has(operand)) operand = this.#copied(operand);
      taken.add(operand);
      outputs[name] = operand;
    }
    return outputs;
  }

  // identity, or where it does not take the type, a reshape to the same shape.
  #copied(operand) {
    const types = this.limits.identity?.input?.dataTypes;
    if (!types || types.includes(operand.dataType)) return this.builder.identity(operand);
    return this.builder.reshape(operand, operand.shape);
  }
}

function descriptor(what, dtype, shape) {
  const dataType = dataTypes[dtype];
  if (!dataType)
    throw new PeerError("unsupported", `webnn: ${what} is ${dtype}, which WebNN does not support`, true);
  if (elementsIn(shape) === 0)
    throw new PeerError(
      "unsupported",
      `webnn: ${what} of shape [${shape}] has no elements, which WebNN does not support`,
      true,
    );
  return { dataType, shape };
}
