// Errors with the kind that the PC's exit code follows from (core/base/result.hpp). Clients: everything that
// fetches or runs.
export class RunError extends Error {
  constructor(kind, message) {
    super(message);
    this.kind = kind;
  }
}
