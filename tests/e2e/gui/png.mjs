// Just enough PNG to compare pictures: 8-bit RGBA as the screens save it.
import { inflateSync } from 'node:zlib';

/** {width, height, pixels: RGBA} */
export function decodePng(file) {
  if (file.readUInt32BE(0) !== 0x89504e47) throw new Error('no PNG');
  const parts = [];
  let width = 0, height = 0;
  for (let at = 8; at < file.length;) {
    const size = file.readUInt32BE(at);
    const type = file.toString('latin1', at + 4, at + 8);
    if (type === 'IHDR') [width, height] = [file.readUInt32BE(at + 8), file.readUInt32BE(at + 12)];
    if (type === 'IDAT') parts.push(file.subarray(at + 8, at + 8 + size));
    at += 12 + size;
  }
  const rows = inflateSync(Buffer.concat(parts));
  const stride = width * 4;
  const pixels = Buffer.alloc(stride * height);
  for (let y = 0; y < height; ++y) {
    const filter = rows[y * (stride + 1)];
    for (let x = 0; x < stride; ++x) {
      const left = x >= 4 ? pixels[y * stride + x - 4] : 0;
      const up = y > 0 ? pixels[(y - 1) * stride + x] : 0;
      const corner = x >= 4 && y > 0 ? pixels[(y - 1) * stride + x - 4] : 0;
      const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter];
      pixels[y * stride + x] = (rows[y * (stride + 1) + 1 + x] + guess) & 255;
    }
  }
  return { width, height, pixels };
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

/** How many colours there are: a window that drew nothing has one. */
export function colours({ pixels }) {
  const seen = new Set();
  for (let i = 0; i < pixels.length; i += 4) seen.add(pixels.readUInt32BE(i));
  return seen.size;
}
