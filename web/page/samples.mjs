// The shipped test sets: bytes of pictures and labels → the model's input tensor.
// Clients: page.mjs, tests. The arithmetic is that of the PC's reader, so the bits are the same.

const sets = {
  gray: {
    title: "handwritten digits",
    files: ["data/digits-test-images.idx3-ubyte", "data/digits-test-labels.idx1-ubyte"],
    read: readIdx,
  },
  RGB: {
    title: "generated textures and shapes",
    files: ["data/generated-cifar10-test.bin"],
    read: readCifar10,
  },
};

/** The test set of ten classes that fits a model's preprocessing, or null: then inputs are seeded. */
export function setFor(description) {
  const set = sets[description?.channel_order] ?? null;
  return description?.labels?.length === 10 && !description.resize ? set : null;
}

/** MNIST's IDX format: magic, sizes (big-endian), bytes. */
function readIdx([images, labels]) {
  const header = new DataView(images.buffer, images.byteOffset);
  const [count, height, width] = [4, 8, 12].map((at) => header.getUint32(at));
  const size = height * width;
  const fits = images.length === 16 + count * size && labels.length === 8 + count;
  if (header.getUint32(0) !== 0x803 || !fits) throw new Error("the test set's files do not fit together");
  return {
    count,
    channels: 1,
    height,
    width,
    pixels: (index) => images.subarray(16 + index * size, 16 + (index + 1) * size),
    label: (index) => labels[8 + index],
  };
}

/** CIFAR-10's binary format: per sample a label, then the planes red, green, blue. */
function readCifar10([file]) {
  const size = 3 * 32 * 32;
  return {
    count: Math.floor(file.length / (size + 1)),
    channels: 3,
    height: 32,
    width: 32,
    pixels: (index) => file.subarray(index * (size + 1) + 1, (index + 1) * (size + 1)),
    label: (index) => file[index * (size + 1)],
  };
}

export async function loadSet(set, fetchBytes) {
  return { title: set.title, ...set.read(await Promise.all(set.files.map(fetchBytes))) };
}

/** (float32(p)·float32(scale) − float32(mean)) ÷ float32(std), each operation rounded. */
export function preprocess(pixels, description) {
  const f32 = Math.fround;
  const plane = description.height * description.width;
  const values = new Float32Array(pixels.length);
  for (let i = 0; i < pixels.length; ++i) {
    const channel = Math.floor(i / plane);
    const scaled = f32(pixels[i] * f32(description.scale));
    const shifted = f32(scaled - f32(description.mean[channel]));
    values[i] = f32(shifted / f32(description.std[channel]));
  }
  return values;
}

/** RGBA of one sample, for a canvas. */
export function picture(samples, index) {
  const pixels = samples.pixels(index);
  const plane = samples.height * samples.width;
  const rgba = new Uint8ClampedArray(plane * 4);
  for (let i = 0; i < plane; ++i) {
    for (let channel = 0; channel < 3; ++channel)
      rgba[i * 4 + channel] = pixels[samples.channels === 3 ? channel * plane + i : i];
    rgba[i * 4 + 3] = 255;
  }
  return new ImageData(rgba, samples.width, samples.height);
}
