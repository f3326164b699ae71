// Errors with the kind that the PC's exit code follows from (core/base/result.hpp). Clients: everything that
// fetches or runs.
export class RunError extends Error {
  /** `stuck`: the worker is at fault, and the same may well work in another one. */
  constructor(kind, message, stuck = false) {
    super(message);
    this.kind = kind;
    this.stuck = stuck;
  }
}
