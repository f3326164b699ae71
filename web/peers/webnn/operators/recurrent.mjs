// LSTM and GRU: WebNN has both, with ONNX's weights but for the order of gates and the split of the bias.
import { decline } from "../translation.mjs";

// ONNX packs W's and R's bias one after the other.
function biases(node, hidden, gates) {
  const packed = node.input(3);
  if (packed === null) return {};
  const directions = packed.shape[0];
  const half = (i) =>
    node.make("slice", { input: packed }, [
      [0, i * gates * hidden],
      [directions, gates * hidden],
    ]);
  return { bias: half(0), recurrentBias: half(1) };
}

const names = { relu: "relu", sigmoid: "sigmoid", tanh: "tanh" };

// WebNN has one list of activations for both directions, without parameters.
function activationsOf(node, count, directions) {
  const given = node.attribute("activations");
  if (!given) return undefined;
  const all = given.map((name) => names[name.toLowerCase()] ?? decline(`WebNN has no activation ${name}`));
  const first = all.slice(0, count);
  if (directions === 2 && all.slice(count).some((name, i) => name !== first[i]))
    decline("WebNN has the same activations in both directions");
  return first;
}

function checkCommon(node, steps, batch) {
  if (node.attribute("clip") !== undefined) decline("WebNN clips no cells");
  if (!node.has(4)) return;
  const lengths = node.numbers(4, "the lengths of the sequences");
  if (lengths.length !== batch || lengths.some((length) => length !== steps))
    decline("WebNN runs all sequences of a batch to the same length");
}

/**
 * Options that LSTM and GRU share, with X as [steps, batch, inputs]. layout=1 has the batch first, in X, in
 * the states and in all outputs.
 */
function prepared(node, gates, activations) {
  const batchFirst = node.attribute("layout", 0) === 1;
  const swap = (operand) => (operand === null ? null : node.transpose(operand, [1, 0, 2]));
  const input = batchFirst ? swap(node.input(0)) : node.input(0);
  const [weight, recurrentWeight] = [node.input(1), node.input(2)];
  const [steps, batch] = input.shape;
  const [directions, , hidden] = recurrentWeight.shape;
  checkCommon(node, steps, batch);
  const state = (i) => (batchFirst ? swap(node.input(i)) : node.input(i));
  const options = {
    ...biases(node, hidden, gates),
    initialHiddenState: state(5),
    returnSequence: node.wants(0),
    direction: { forward: "forward", reverse: "backward", bidirectional: "both" }[
      node.attribute("direction", "forward")
    ],
    activations: activationsOf(node, activations, directions),
  };
  const operands = { input, weight, recurrentWeight };
  const last = (operand) => (batchFirst ? swap(operand) : operand);
  // [steps, directions, batch, hidden]
  const sequence = (operand) => (batchFirst ? node.transpose(operand, [2, 0, 1, 3]) : operand);
  return { operands, sizes: [steps, hidden], options, state, last, sequence };
}

function lstm(node) {
  if (node.attribute("input_forget", 0) === 1) decline("WebNN does not couple input and forget gate");
  // In ONNX the output gate sees the cell after the step, in WebNN the one before it.
  if (node.has(7)) decline("WebNN's peepholes differ: its output gate sees the cell of the previous step");
  const { operands, sizes, options, state, last, sequence } = prepared(node, 4, 3);
  const given = { ...options, layout: "iofg", initialCellState: state(6) };
  const [hidden, cell, all] = node.make("lstm", operands, sizes, given);
  return [all && sequence(all), last(hidden), last(cell)];
}

function gru(node) {
  const { operands, sizes, options, last, sequence } = prepared(node, 3, 2);
  const resetAfter = node.attribute("linear_before_reset", 0) !== 0;
  const [hidden, all] = node.make("gru", operands, sizes, { ...options, layout: "zrn", resetAfter });
  return [all && sequence(all), last(hidden)];
}

export const operators = { GRU: gru, LSTM: lstm };
