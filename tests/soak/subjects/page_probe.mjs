// Runs on the page before everything else: remembers its WebAssembly memories, weakly, and counts what is
// there.
export function probePage() {
  const memories = new Set();
  const remember = (memory) => memories.add(new WeakRef(memory));
  const { Memory } = WebAssembly;
  WebAssembly.Memory = new Proxy(Memory, {
    construct(target, given) {
      const memory = new target(...given);
      remember(memory);
      return memory;
    },
  });
  for (const name of ["instantiate", "instantiateStreaming"]) {
    const original = WebAssembly[name];
    WebAssembly[name] = async (...given) => {
      const made = await original.apply(WebAssembly, given);
      for (const value of Object.values((made.instance ?? made).exports))
        if (value instanceof Memory) remember(value);
      return made;
    };
  }
  globalThis.soakProbe = () => ({
    wasm: [...memories].reduce((sum, memory) => sum + (memory.deref()?.buffer.byteLength ?? 0), 0),
    elements: document.getElementsByTagName("*").length,
  });
}
