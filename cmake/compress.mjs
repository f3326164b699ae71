// node compress.mjs best|good FILE…: writes FILE.br and FILE.gz: what the server sends to browsers that take
// them. Brotli's best saves an eighth and takes 3 s per megabyte. Client: cmake/compress.cmake.
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const [quality, ...files] = process.argv.slice(2);

const brotli = (bytes) =>
  brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: quality === "best" ? constants.BROTLI_MAX_QUALITY : 9,
      [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  });
const gzip = (bytes) => gzipSync(bytes, { level: constants.Z_BEST_COMPRESSION });

for (const file of files) {
  const bytes = readFileSync(file);
  for (const [suffix, compress] of [
    [".br", brotli],
    [".gz", gzip],
  ]) {
    // Beside and renamed: a server may be reading the old one.
    writeFileSync(`${file}${suffix}.tmp`, compress(bytes));
    renameSync(`${file}${suffix}.tmp`, file + suffix);
  }
}
