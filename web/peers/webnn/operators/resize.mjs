// Resize and Upsample. WebNN's resample2d takes pixels as squares (half_pixel); other nearest neighbours are
// gathers of rows and columns.
import { decline } from "../translation.mjs";

/** The place in the input of place x in the output, as a real number. */
export function source(mode, x, { scale, size, output }) {
  switch (mode) {
    case "asymmetric":
      return x / scale;
    case "half_pixel":
      return (x + 0.5) / scale - 0.5;
    case "tf_half_pixel_for_nn":
      return (x + 0.5) / scale;
    case "pytorch_half_pixel":
      return output > 1 ? (x + 0.5) / scale - 0.5 : 0;
    case "align_corners":
      return output > 1 ? (x * (size - 1)) / (output - 1) : 0;
    case "half_pixel_symmetric": {
      const adjustment = output / (scale * size);
      return (size / 2) * (1 - adjustment) + (x + 0.5) / scale - 0.5;
    }
    default:
      return decline(`coordinates of ${mode} cannot be expressed`);
  }
}

const rounded = {
  round_prefer_floor: (x) => Math.ceil(x - 0.5),
  round_prefer_ceil: (x) => Math.floor(x + 0.5),
  floor: Math.floor,
  ceil: Math.ceil,
};

/** The input's places of the output's, along one axis. */
export function nearest(mode, rounding, axis) {
  const places = Array.from({ length: axis.output }, (_, x) => rounded[rounding](source(mode, x, axis)));
  return places.map((place) => Math.min(Math.max(place, 0), axis.size - 1));
}

// {size, output, scale} of every axis.
function axesOf(node, shape) {
  const inputs = { scales: node.opset < 11 ? 1 : 2, sizes: 3 };
  const listed = node.attribute("axes") ?? shape.map((_, i) => i);
  const given =
    node.op === "Upsample" && node.opset < 9
      ? node.attribute("scales")
      : node.numbers(inputs.scales, "its scales");
  const { shape: outputs } = node.output();
  return shape.map((size, i) => {
    const at = listed.map((axis) => node.axis(axis, shape.length)).indexOf(i);
    const scale = given?.length > 0 && at >= 0 ? given[at] : outputs[i] / size;
    return { size, output: outputs[i], scale };
  });
}

// Where WebNN has a coordinate system of its own: pixels are squares.
const webnnNearest = ({ size, output }) =>
  Array.from({ length: output }, (_, x) => Math.min(Math.floor(((x + 0.5) * size) / output), size - 1));

const equal = (a, b) => a.every((value, i) => value === b[i]);

function resizeNearest(node, x, axes, mode) {
  const rounding = node.attribute("nearest_mode", node.opset < 11 ? "floor" : "round_prefer_floor");
  const changed = axes.map((_, i) => i).filter((i) => axes[i].output !== axes[i].size || axes[i].scale !== 1);
  const places = new Map(changed.map((i) => [i, nearest(mode, rounding, axes[i])]));
  const plane = [2, 3];
  if (
    x.shape.length === 4 &&
    changed.every((i) => plane.includes(i) && equal(places.get(i), webnnNearest(axes[i])))
  )
    return resample(node, x, axes, "nearest-neighbor");
  return changed.reduce((y, axis) => {
    const indices = node.constant("int32", [places.get(axis).length], places.get(axis));
    return node.make("gather", { input: y, indices }, [], { axis });
  }, x);
}

const resample = (node, x, axes, mode) =>
  node.unary("resample2d", x, { mode, axes: [2, 3], sizes: [axes[2].output, axes[3].output] });

function resizeLinear(node, x, axes, mode) {
  const fixed = (axis) => axis.output === axis.size && axis.scale === 1;
  if (x.shape.length !== 4 || !fixed(axes[0]) || !fixed(axes[1]))
    decline("WebNN interpolates over the last two of four axes only");
  const sized = ({ size, output, scale }) => Math.abs(output - size * scale) < 1e-6 * output;
  const same = (axis) => axis.output > 1 || mode !== "pytorch_half_pixel";
  const half = ["half_pixel", "pytorch_half_pixel", "half_pixel_symmetric"].includes(mode);
  if (!axes.every((axis) => fixed(axis) || (half && sized(axis) && same(axis))))
    decline(`WebNN interpolates between pixels taken as squares, not ${mode} with these scales`);
  return resample(node, x, axes, "linear");
}

function resize(node) {
  const x = node.input(0);
  const axes = axesOf(node, x.shape);
  const mode = node.attribute(
    "coordinate_transformation_mode",
    node.opset < 11 ? "asymmetric" : "half_pixel",
  );
  if (node.attribute("antialias", 0) === 1 || node.attribute("exclude_outside", 0) === 1)
    decline("WebNN neither antialiases when it resamples nor excludes elements outside the input");
  if (node.attribute("keep_aspect_ratio_policy", "stretch") !== "stretch")
    axes.forEach((axis) => (axis.scale = axis.output / axis.size));
  switch (node.attribute("mode", "nearest")) {
    case "nearest":
      return resizeNearest(node, x, axes, mode);
    case "linear":
    case "bilinear":
      return resizeLinear(node, x, axes, mode);
    default:
      return decline(`WebNN has no interpolation of mode ${node.attribute("mode")}`);
  }
}

export const operators = { Resize: resize, Upsample: resize };
