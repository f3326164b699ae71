// Windows that slide over spatial axes: ONNX's attributes as numbers. Clients: operators/conv.mjs,
// operators/pool.mjs, tests.
import { decline } from "./translation.mjs";

/**
 * {kernel, strides, dilations, begin, end} of a node with `sizes` as its input's spatial sizes. With auto_pad
 * the padding follows from them, for outputs of ⌈size ÷ stride⌉.
 */
export function windowOf(node, sizes, kernel) {
  const rank = sizes.length;
  const strides = node.attribute("strides", Array(rank).fill(1));
  const dilations = node.attribute("dilations", Array(rank).fill(1));
  const auto = node.attribute("auto_pad", "NOTSET");
  const pads = node.attribute("pads", Array(2 * rank).fill(0));
  let [begin, end] = [pads.slice(0, rank), pads.slice(rank)];
  if (auto === "VALID") [begin, end] = [Array(rank).fill(0), Array(rank).fill(0)];
  if (auto === "SAME_UPPER" || auto === "SAME_LOWER") {
    const totals = sizes.map((size, i) => {
      const extent = (kernel[i] - 1) * dilations[i] + 1;
      return Math.max(0, (Math.ceil(size / strides[i]) - 1) * strides[i] + extent - size);
    });
    const smaller = totals.map((total) => Math.floor(total / 2));
    const larger = totals.map((total, i) => total - smaller[i]);
    [begin, end] = auto === "SAME_UPPER" ? [smaller, larger] : [larger, smaller];
  }
  if ([...begin, ...end].some((pad) => pad < 0)) decline("its padding is negative");
  return { kernel, strides, dilations, begin, end };
}

/** WebNN's order of padding for two axes: both sides of the first, both sides of the second. */
export const paddingOf = ({ begin, end }) => [begin[0], end[0], begin[1], end[1]];

/** A window over one axis as one over two, whose second has size 1. */
export function widened(window) {
  const with1 = (list, value) => [...list, value];
  return {
    kernel: with1(window.kernel, 1),
    strides: with1(window.strides, 1),
    dilations: with1(window.dilations, 1),
    begin: with1(window.begin, 0),
    end: with1(window.end, 0),
  };
}
