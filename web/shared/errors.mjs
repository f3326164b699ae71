// Errors with the kinds that determine the PC's exit code (core/base/result.hpp). Clients: everything that
// fetches or runs.
export class RunError extends Error {
  /** `stuck`: the worker is at fault; the same request may succeed in another one. */
  constructor(kind, message, stuck = false) {
    super(message);
    this.kind = kind;
    this.stuck = stuck;
  }
}
