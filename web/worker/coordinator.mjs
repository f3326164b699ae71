// A comparison in its permanent worker: the engine says what to run next and judges a target's trace
// (core/protocol/comparison.hpp); the runs happen elsewhere. Client: worker.mjs.

/**
 * `compare` = {targets, perturbation_check?, samples?, labels?, threads}. `ask({id, place, target, purpose})`
 * resolves to the run's result, {trace: bytes} or {error: {kind, message}}. `report({place, done, recorded,
 * error?, comparison, topology, metrics})` receives the results of a target, before its data set and when it
 * is done. Resolves when all targets are. `engine` has loaded the model.
 */
export async function coordinate(engine, compare, { ask, report }) {
  const topology = engine.request("topology").head.nodes;
  const { metrics } = engine.request("capabilities").head;
  engine.request("compare", compare);
  const advance = (ended = {}, trace) => {
    const { head, payload } = engine.request("advance", ended, trace);
    if (head.result) head.result.comparison = JSON.parse(new TextDecoder().decode(payload));
    return head;
  };
  let step = advance();
  for (;;) {
    if (step.result) report({ ...step.result, topology, metrics });
    if (step.finished) return;
    if (step.run) {
      const { trace, error } = await ask(step.run);
      step = advance({ run: step.run.id, error }, trace);
    } else step = advance();
  }
}
