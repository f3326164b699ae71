// How long TensorFlow.js's kernels took, by node of the graph. Its profiler reports kernels in the order in
// which they ran, without saying for which node; but its executor looks at the category of a node just before
// running it, so an accessor there observes it. Client: tensorflow.mjs.

/** Calls `started(name)` whenever a node begins to run; returns what undoes it. */
function watchNodes(model, started) {
  const nodes = Object.values(model.executor.graph.nodes);
  for (const node of nodes) {
    const { category } = node;
    Object.defineProperty(node, "category", {
      configurable: true,
      enumerable: true,
      get() {
        started(node.name);
        return category;
      },
    });
  }
  return () => {
    for (const node of nodes) {
      const { category } = node;
      Object.defineProperty(node, "category", {
        configurable: true,
        enumerable: true,
        writable: true,
        value: category,
      });
    }
  };
}

/** Runs `action` under TensorFlow.js's profiler: {result, times: [[name of node, milliseconds], …]}. */
export async function profiled(tf, model, action) {
  const marks = []; // [node, kernels that ran before it]
  const kernelsSoFar = () => tf.engine().state.activeProfile.kernels.length;
  const unwatch = watchNodes(model, (name) => marks.push([name, kernelsSoFar()]));
  let result;
  try {
    const { kernels } = await tf.profile(() => {
      result = action();
      return Array.isArray(result) ? result : [result];
    });
    const times = new Map();
    marks.forEach(([name, begin], i) => {
      const end = marks[i + 1]?.[1] ?? kernels.length;
      const ms = kernels.slice(begin, end).reduce((sum, kernel) => sum + (kernel.kernelTimeMs || 0), 0);
      times.set(name, (times.get(name) ?? 0) + ms);
    });
    return { result, times: [...times] };
  } finally {
    unwatch();
  }
}
