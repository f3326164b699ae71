// Convolutions. WebNN has those over two axes; one axis is two of which the second has size 1.
import { decline } from "../translation.mjs";
import { paddingOf, widened, windowOf } from "../window.mjs";

/** x [N, C, …] with two spatial axes, and the way back. */
function planes(node, x) {
  const rank = x.shape.length - 2;
  if (rank === 2) return { x, wide: (weights) => weights, back: (y) => y, window: (w) => w };
  if (rank !== 1) decline(`WebNN has windows over two axes, not over ${rank}`);
  return {
    x: node.reshape(x, [...x.shape, 1]),
    wide: (weights) => node.reshape(weights, [...weights.shape, 1]),
    back: (y) => node.reshape(y, y.shape.slice(0, 3)),
    window: widened,
  };
}

function conv(node) {
  const input = node.input(0);
  const filter = node.input(1);
  const { x, wide, back, window } = planes(node, input);
  const placed = window(windowOf(node, input.shape.slice(2), filter.shape.slice(2)));
  const options = {
    bias: node.input(2),
    padding: paddingOf(placed),
    strides: placed.strides,
    dilations: placed.dilations,
    groups: node.attribute("group", 1),
  };
  return back(node.make("conv2d", { input: x, filter: wide(filter) }, [], options));
}

/**
 * Padding and output padding of a transposed convolution whose output sizes are given: by output_shape, or by
 * auto_pad SAME_*, which makes size × stride of it.
 */
export function transposedPads(window, sizes, outputs, extra, upper) {
  const total = sizes.map((size, i) => {
    const extent = (window.kernel[i] - 1) * window.dilations[i] + 1;
    return window.strides[i] * (size - 1) + extra[i] + extent - outputs[i];
  });
  const pads = total.map((all) => Math.max(all, 0));
  const begin = pads.map((all) => (upper ? Math.floor(all / 2) : Math.ceil(all / 2)));
  return {
    begin,
    end: pads.map((all, i) => all - begin[i]),
    extra: extra.map((more, i) => more + Math.max(-total[i], 0)),
  };
}

function convTranspose(node) {
  const input = node.input(0);
  const filter = node.input(1);
  const { x, wide, back, window } = planes(node, input);
  const sizes = input.shape.slice(2);
  const auto = node.attribute("auto_pad", "NOTSET");
  const same = auto.startsWith("SAME");
  let placed = windowOf(node, sizes, filter.shape.slice(2));
  let extra = node.attribute(
    "output_padding",
    sizes.map(() => 0),
  );
  if (same || node.attribute("output_shape")) {
    const upper = auto === "SAME_UPPER";
    const pads = transposedPads(placed, sizes, node.output().shape.slice(2), extra, upper);
    placed = { ...placed, begin: pads.begin, end: pads.end };
    extra = pads.extra;
  }
  placed = window(placed);
  // Not every browser pads a transposed convolution, which takes rows and columns away: that is a slice.
  const options = {
    bias: node.input(2),
    strides: placed.strides,
    dilations: placed.dilations,
    outputPadding: extra.length === 1 ? [extra[0], 0] : extra,
    groups: node.attribute("group", 1),
  };
  const full = node.make("convTranspose2d", { input: x, filter: wide(filter) }, [], options);
  const [top, bottom, left, right] = paddingOf(placed);
  if (top + bottom + left + right === 0) return back(full);
  const [batch, channels, height, width] = full.shape;
  const part = [
    [0, 0, top, left],
    [batch, channels, height - top - bottom, width - left - right],
  ];
  return back(node.make("slice", { input: full }, part));
}

export const operators = { Conv: conv, ConvTranspose: convTranspose };
