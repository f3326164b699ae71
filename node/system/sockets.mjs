// Connections of the program: what node/system/sockets.cpp asks for, on node:net. A descriptor is a number
// above those of files; errors are thrown or passed with the `code` of an errno.
import net from "node:net";

const first = 1 << 20;
const IN = 1;
const OUT = 4;
const HUP = 16;
const INVALID = 32;
const mostWaiting = 1 << 22; // bytes that were received and that nobody has read
const mostSending = 1 << 22;
const longestSilenceMs = 60_000; // of a reader, after the program has closed the connection

function failure(code) {
  return Object.assign(new Error(code), { code });
}

/** One end of a stream. */
class Stream {
  received = [];
  size = 0;
  ended = false;
  broken = null;

  constructor(owner) {
    this.owner = owner;
  }

  /** Takes what a duplex stream of Node gives, and sends to it. */
  attach(duplex) {
    this.duplex = duplex;
    duplex.on("data", (bytes) => {
      this.take(bytes);
      if (this.size > mostWaiting) duplex.pause();
    });
    duplex.on("end", () => this.end());
    duplex.on("drain", () => this.owner.changed());
    duplex.on("error", (error) => this.end(error.code));
    duplex.on("close", () => this.end());
    for (const bytes of this.early ?? []) duplex.write(bytes);
    this.early = undefined;
  }

  take(bytes) {
    this.received.push(bytes);
    this.size += bytes.length;
    this.owner.changed();
  }

  end(code) {
    this.ended = true;
    this.broken ??= code ?? null;
    this.owner.changed();
  }

  get events() {
    let events = 0;
    if (this.size > 0 || this.ended) events |= IN;
    if (this.ended && this.duplex?.destroyed) events |= HUP;
    if (!this.duplex || this.duplex.destroyed || this.duplex.writableLength < mostSending) events |= OUT;
    return events;
  }

  receive(target, peek) {
    if (this.size === 0) {
      if (this.ended) return 0;
      throw failure("EAGAIN");
    }
    let filled = 0;
    for (let i = 0; filled < target.length && i < this.received.length; ++i) {
      const part = this.received[i].subarray(0, target.length - filled);
      target.set(part, filled);
      filled += part.length;
    }
    if (!peek) this.#drop(filled);
    return filled;
  }

  #drop(bytes) {
    this.size -= bytes;
    while (bytes > 0) {
      const part = this.received[0];
      if (part.length > bytes) {
        this.received[0] = part.subarray(bytes);
        break;
      }
      bytes -= part.length;
      this.received.shift();
    }
    if (this.duplex?.isPaused?.() && this.size < mostWaiting / 2) this.duplex.resume();
  }

  send(bytes) {
    const copy = Uint8Array.prototype.slice.call(bytes); // the memory is shared and used again
    if (this.other) {
      this.other.take(copy);
    } else if (!this.duplex) {
      (this.early ??= []).push(copy);
    } else if (this.duplex.destroyed || this.duplex.writableEnded || this.broken) {
      throw failure("EPIPE");
    } else if (this.duplex.writableLength >= mostSending) {
      throw failure("EAGAIN");
    } else {
      this.duplex.write(copy);
    }
    return copy.length;
  }

  shutdown(how) {
    if (how !== 0 && this.duplex && !this.duplex.writableEnded) this.duplex.end();
    if (how !== 1) this.end();
  }

  close() {
    this.other?.end();
    const { duplex } = this;
    if (!duplex || duplex.destroyed) return;
    // What was sent still leaves, as long as the other side reads it.
    duplex.removeAllListeners("data");
    duplex.resume();
    if (!duplex.writableEnded) duplex.end();
    if (duplex.writableFinished) duplex.destroy();
    else duplex.once("finish", () => duplex.destroy());
    duplex.setTimeout?.(longestSilenceMs, () => duplex.destroy());
  }
}

/** A server and the connections that nobody has accepted yet. */
class Listener {
  waiting = [];
  closed = false;

  constructor(owner, { address, port }) {
    this.owner = owner;
    this.where = { host: address, port };
    this.server = net.createServer({ noDelay: true, pauseOnConnect: true }, (socket) => {
      this.waiting.push(socket);
      owner.changed();
    });
  }

  listen(done) {
    this.server.once("error", (error) => done(error.code ?? "EIO"));
    this.server.listen(this.where, () => done());
  }

  get events() {
    return this.closed ? IN | HUP : this.waiting.length > 0 ? IN : 0;
  }

  close() {
    this.closed = true;
    this.server.close();
    for (const socket of this.waiting) socket.destroy();
    this.owner.changed();
  }
}

export class Sockets {
  #ends = new Map();
  #next = first;
  #watches = new Map();

  open() {
    const fd = this.#next++;
    this.#ends.set(fd, new Stream(this));
    return fd;
  }

  /** Two ends that are connected to each other, until one is given to a process. */
  pair() {
    const two = [this.open(), this.open()];
    const [a, b] = two.map((fd) => this.#ends.get(fd));
    [a.other, b.other] = [b, a];
    return two;
  }

  /** The end that stays here of a pair whose `fd` a process has: it goes on over the process's stream. */
  give(fd, duplex) {
    const given = this.#end(fd);
    const stays = given.other;
    stays.other = given.other = undefined;
    stays.early = given.received;
    stays.attach(duplex);
  }

  #end(fd) {
    let end = this.#ends.get(fd);
    if (!end && fd >= 0 && fd < first) {
      // Inherited from the process that has started this one.
      end = new Stream(this);
      end.attach(new net.Socket({ fd, readable: true, writable: true }));
      this.#ends.set(fd, end);
    }
    if (!end) throw failure("EBADF");
    return end;
  }

  bind(fd, address, port) {
    this.#end(fd).where = { address, port };
  }

  listen(fd, done) {
    if (this.#end(fd) instanceof Listener) return done(); // again, for another backlog: Node has its own
    const listener = new Listener(this, this.#end(fd).where ?? { address: "127.0.0.1", port: 0 });
    this.#ends.set(fd, listener);
    listener.listen(done);
  }

  accept(fd) {
    const socket = this.#end(fd).waiting?.shift();
    if (!socket) throw failure(this.#end(fd).waiting && !this.#end(fd).closed ? "EAGAIN" : "EINVAL");
    const accepted = this.open();
    this.#ends.get(accepted).attach(socket);
    socket.resume();
    return accepted;
  }

  connect(fd, address, port, done) {
    const end = this.#end(fd);
    const socket = net.connect({ host: address, port, noDelay: true });
    const refused = (error) => done(error.code ?? "EIO");
    socket.once("error", refused);
    socket.once("connect", () => {
      socket.off("error", refused);
      end.attach(socket);
      done();
    });
  }

  receive(fd, target, peek) {
    return this.#end(fd).receive(target, peek);
  }

  send(fd, bytes) {
    return this.#end(fd).send(bytes);
  }

  shutdown(fd, how) {
    const end = this.#end(fd);
    if (end instanceof Listener) end.close();
    else end.shutdown(how);
  }

  close(fd) {
    this.#end(fd).close();
    this.#ends.delete(fd);
    this.changed(); // who waits for it learns that it is gone
  }

  address(fd, other) {
    const end = this.#end(fd);
    if (end instanceof Listener) return end.server.address() ?? { address: "127.0.0.1", port: 0 };
    const { duplex } = end;
    if (!duplex?.remoteAddress)
      return { address: end.where?.address ?? "127.0.0.1", port: end.where?.port ?? 0 };
    return other
      ? { address: duplex.remoteAddress, port: duplex.remotePort }
      : { address: duplex.localAddress, port: duplex.localPort };
  }

  events(fd) {
    try {
      return this.#end(fd).events;
    } catch {
      return INVALID;
    }
  }

  /** Calls `wake` once when one of the [fd, events] comes, unless `key` is forgotten. */
  watch(key, wanted, wake) {
    this.#watches.set(key, { wanted, wake });
  }

  forget(key) {
    this.#watches.delete(key);
  }

  changed() {
    for (const [key, { wanted, wake }] of this.#watches) {
      if (!wanted.some(([fd, events]) => fd >= 0 && this.events(fd) & (events | HUP | INVALID))) continue;
      this.#watches.delete(key);
      wake();
    }
  }
}
