/* global addToLibrary, _ds_heap_limit */
// How far the heap may grow, read again whenever it grows: Emscripten's own limit is fixed when it links. The
// answer is in wasm, where the threads of a module see it as well. Client: web/engine.cmake.
addToLibrary({
  $getHeapMax: () => _ds_heap_limit() >>> 0,
});
