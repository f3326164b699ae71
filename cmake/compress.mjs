// node compress.mjs FILE…: writes FILE.br and FILE.gz, as small as these codings get in a quarter of a
// minute: what the server sends to browsers that take them. Client: cmake/compress.cmake.
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

// Brotli's best saves an eighth and takes 2 s per megabyte: our engine is worth it, runtimes of others are
// not.
const large = 8e6;

const brotli = (bytes) =>
  brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: bytes.length > large ? 9 : constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  });
const gzip = (bytes) => gzipSync(bytes, { level: constants.Z_BEST_COMPRESSION });

for (const file of process.argv.slice(2)) {
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
