// Just enough PNG to compare and store pictures: 8 bits per channel, RGBA as the GUI saves it, or grey.
import { deflateSync, inflateSync } from "node:zlib";

/** {width, height, pixels: RGBA} */
export function decodePng(file) {
  if (file.readUInt32BE(0) !== 0x89504e47) throw new Error("no PNG");
  const parts = [];
  let width = 0,
    height = 0,
    channels = 4;
  for (let at = 8; at < file.length;) {
    const size = file.readUInt32BE(at);
    const type = file.toString("latin1", at + 4, at + 8);
    if (type === "IHDR")
      [width, height, channels] = [
        file.readUInt32BE(at + 8),
        file.readUInt32BE(at + 12),
        file[at + 17] === 0 ? 1 : 4,
      ];
    if (type === "IDAT") parts.push(file.subarray(at + 8, at + 8 + size));
    at += 12 + size;
  }
  const rows = inflateSync(Buffer.concat(parts));
  const stride = width * channels;
  const pixels = Buffer.alloc(stride * height);
  for (let y = 0; y < height; ++y) {
    const filter = rows[y * (stride + 1)];
    for (let x = 0; x < stride; ++x) {
      const left = x >= channels ? pixels[y * stride + x - channels] : 0;
      const up = y > 0 ? pixels[(y - 1) * stride + x] : 0;
      const corner = x >= channels && y > 0 ? pixels[(y - 1) * stride + x - channels] : 0;
      const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter];
      pixels[y * stride + x] = (rows[y * (stride + 1) + 1 + x] + guess) & 255;
    }
  }
  if (channels === 4) return { width, height, pixels };
  const rgba = Buffer.alloc(width * height * 4, 255);
  for (let i = 0; i < width * height; ++i) rgba.fill(pixels[i], i * 4, i * 4 + 3);
  return { width, height, pixels: rgba };
}

/** Half as wide and high, in grey: the form in which pictures are stored and compared. */
export function reduced({ width, height, pixels }) {
  const [w, h] = [width >> 1, height >> 1];
  const grey = Buffer.alloc(w * h * 4, 255);
  for (let y = 0; y < h; ++y)
    for (let x = 0; x < w; ++x) {
      let sum = 0;
      for (const at of [0, 1, width, width + 1]) {
        const i = (2 * y * width + 2 * x + at) * 4;
        sum += pixels[i] * 0.3 + pixels[i + 1] * 0.59 + pixels[i + 2] * 0.11;
      }
      grey.fill(Math.round(sum / 4), (y * w + x) * 4, (y * w + x) * 4 + 3);
    }
  return { width: w, height: h, pixels: grey };
}

/** A grey picture. */
export function encodeGrey({ width, height, pixels }) {
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; ++y)
    for (let x = 0; x < width; ++x) rows[y * (width + 1) + 1 + x] = pixels[(y * width + x) * 4];
  const part = (type, data) => {
    const made = Buffer.alloc(12 + data.length);
    made.writeUInt32BE(data.length, 0);
    made.write(type, 4, "latin1");
    data.copy(made, 8);
    made.writeUInt32BE(checksum(made.subarray(4, 8 + data.length)), 8 + data.length);
    return made;
  };
  const head = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0]);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    part("IHDR", head),
    part("IDAT", deflateSync(rows, { level: 9 })),
    part("IEND", Buffer.alloc(0)),
  ]);
}

function checksum(bytes) {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let i = 0; i < 8; ++i) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

function paeth(a, b, c) {
  const [pa, pb, pc] = [Math.abs(b - c), Math.abs(a - c), Math.abs(a + b - 2 * c)];
  return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

/** Share of pixels of which a channel differs by more than `tolerance`. */
export function differing(a, b, tolerance = 40) {
  if (a.width !== b.width || a.height !== b.height) return 1;
  let count = 0;
  for (let i = 0; i < a.pixels.length; i += 4)
    count += [0, 1, 2].some((c) => Math.abs(a.pixels[i + c] - b.pixels[i + c]) > tolerance) ? 1 : 0;
  return count / (a.width * a.height);
}

/** Number of colours: an empty window has one. */
export function colours({ pixels }) {
  const seen = new Set();
  for (let i = 0; i < pixels.length; i += 4) seen.add(pixels.readUInt32BE(i));
  return seen.size;
}
