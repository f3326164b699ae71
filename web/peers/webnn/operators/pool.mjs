// Pooling over windows, and over all of the spatial axes.
import { decline } from "../translation.mjs";
import { paddingOf, widened, windowOf } from "../window.mjs";

/** Pools with `action(x [N, C, H, W], window, sizes of the output)`. */
function pooled(node, action) {
  const input = node.input(0);
  const rank = input.shape.length - 2;
  if (rank !== 1 && rank !== 2) decline(`WebNN has windows over two axes, not over ${rank}`);
  const { shape } = node.output();
  const window = windowOf(node, input.shape.slice(2), node.attribute("kernel_shape"));
  if (rank === 2) return action(input, window, shape.slice(2));
  const y = action(node.reshape(input, [...input.shape, 1]), widened(window), [shape[2], 1]);
  return node.reshape(y, shape);
}

const optionsOf = (window, outputSizes) => ({
  windowDimensions: window.kernel,
  padding: paddingOf(window),
  strides: window.strides,
  dilations: window.dilations,
  outputSizes,
});

function maxPool(node) {
  if (node.wants(1)) decline("WebNN gives no indices of the largest elements");
  return pooled(node, (x, window, sizes) => {
    // Small integers are exact in float32.
    const direct = node.takes("maxPool2d", "input", x.dataType) || !/^u?int8$/.test(x.dataType);
    const input = direct ? x : node.cast(x, "float32");
    return node.cast(node.unary("maxPool2d", input, optionsOf(window, sizes)), x.dataType);
  });
}

// WebNN's average leaves the padding out. Counted in, it is made of zeros before.
function averagePool(node) {
  const counted = node.attribute("count_include_pad", 0) === 1;
  return pooled(node, (x, window, sizes) => {
    if (!counted) return node.unary("averagePool2d", x, optionsOf(window, sizes));
    const padded = node.make(
      "pad",
      { input: x },
      [
        [0, 0, ...window.begin],
        [0, 0, ...window.end],
      ],
      { mode: "constant", value: 0 },
    );
    const none = { ...window, begin: [0, 0], end: [0, 0] };
    return node.unary("averagePool2d", padded, optionsOf(none, sizes));
  });
}

function lpPool(node) {
  if (node.attribute("p", 2) !== 2) decline("WebNN pools with the norm of order 2 only");
  return pooled(node, (x, window, sizes) => node.unary("l2Pool2d", x, optionsOf(window, sizes)));
}

const overAll = (method) => (node) => {
  const input = node.input(0);
  const axes = input.shape.map((_, i) => i).slice(2);
  return node.unary(method, input, { axes, keepDimensions: true });
};

function globalLpPool(node) {
  const p = node.attribute("p", 2);
  if (p !== 1 && p !== 2) decline("WebNN has norms of order 1 and 2 only");
  return overAll(p === 1 ? "reduceL1" : "reduceL2")(node);
}

export const operators = {
  AveragePool: averagePool,
  GlobalAveragePool: overAll("reduceMean"),
  GlobalLpPool: globalLpPool,
  GlobalMaxPool: overAll("reduceMax"),
  LpPool: lpPool,
  MaxPool: maxPool,
};
