// What node/system/system.hpp declares. Files are answered on the thread that asks; connections and processes
// on the main thread, whose event loop is free since the program runs on another: Module["system"].
addToLibrary({
  $dsNode__deps: ["$ERRNO_CODES"],
  $dsNode__postset: "dsNode.begin();",
  $dsNode: {
    begin() {
      dsNode.fs = require("node:fs");
      dsNode.system = Module["system"]; // on the main thread
    },
    // Flags of open(2) have other numbers on other systems; on Linux there are more than Node names.
    flags(flags) {
      const constants = dsNode.fs.constants;
      if (process.platform === "linux") return flags & ~0o100000;
      let node = [constants.O_RDONLY, constants.O_WRONLY, constants.O_RDWR][flags & 3] ?? 0;
      for (const [bit, name] of [
        [0o100, "O_CREAT"],
        [0o200, "O_EXCL"],
        [0o1000, "O_TRUNC"],
        [0o2000, "O_APPEND"],
        [0o200000, "O_DIRECTORY"],
        [0o400000, "O_NOFOLLOW"],
      ])
        if (flags & bit) node |= constants[name] ?? 0;
      return node;
    },
    // Of Windows: the path of a drive is absolute for the C++ library, which knows slashes alone.
    path(address) {
      const text = UTF8ToString(address);
      return process.platform === "win32" ? text.replace(/^\/(?=[A-Za-z]:)/, "") : text;
    },
    errno(error) {
      return -(ERRNO_CODES[error.code] ?? ERRNO_CODES.EIO);
    },
    call(action) {
      try {
        return action();
      } catch (error) {
        return dsNode.errno(error);
      }
    },
    bytes(address, size) {
      return HEAPU8.subarray(address >>> 0, (address >>> 0) + size);
    },
    wake(address, value) {
      Atomics.store(HEAP32, address >>> 2, value);
      Atomics.notify(HEAP32, address >>> 2);
    },
    // `code`: of an error, or nothing.
    done(address, code) {
      dsNode.wake(address, 1 + (code ? (ERRNO_CODES[code] ?? ERRNO_CODES.EIO) : 0));
    },
    text(text, address, size) {
      if (lengthBytesUTF8(text) + 1 > size) return -ERRNO_CODES.ERANGE;
      return stringToUTF8(text, address, size);
    },
    // A pipe that Node has made does not wait; nothing else may happen meanwhile, though.
    patiently(action) {
      for (;;) {
        try {
          return action();
        } catch (error) {
          if (error.code !== "EAGAIN") return error.code === "EOF" ? 0 : dsNode.errno(error);
          Atomics.wait((dsNode.clock ??= new Int32Array(new SharedArrayBuffer(4))), 0, 0, 2);
        }
      }
    },
  },

  ds_file_open__deps: ["$dsNode", "$UTF8ToString"],
  ds_file_open: (path, flags, mode) =>
    dsNode.call(() => dsNode.fs.openSync(dsNode.path(path), dsNode.flags(flags), mode)),

  ds_file_close__deps: ["$dsNode"],
  ds_file_close: (fd) => dsNode.call(() => (dsNode.fs.closeSync(fd), 0)),

  ds_file_read__deps: ["$dsNode"],
  ds_file_read: (fd, bytes, size, position) =>
    dsNode.patiently(() =>
      dsNode.fs.readSync(fd, dsNode.bytes(bytes, size), 0, size, position < 0 ? null : position),
    ),

  ds_file_write__deps: ["$dsNode"],
  ds_file_write: (fd, bytes, size, position) =>
    dsNode.patiently(() =>
      dsNode.fs.writeSync(fd, dsNode.bytes(bytes, size), 0, size, position < 0 ? null : position),
    ),

  ds_file_status__deps: ["$dsNode", "$UTF8ToString"],
  ds_file_status: (fd, path, follow, target) =>
    dsNode.call(() => {
      const { fs } = dsNode;
      const status =
        fd >= 0
          ? fs.fstatSync(fd)
          : follow
            ? fs.statSync(dsNode.path(path))
            : fs.lstatSync(dsNode.path(path));
      [
        status.dev,
        status.ino,
        status.mode,
        status.nlink,
        status.uid,
        status.gid,
        status.rdev,
        status.size,
        status.blksize ?? 4096,
        status.blocks ?? Math.ceil(status.size / 512),
        status.atimeMs,
        status.mtimeMs,
        status.ctimeMs,
      ].forEach((value, i) => {
        HEAPF64[(target >>> 3) + i] = value;
      });
      return 0;
    }),

  ds_file_names__deps: ["$dsNode", "$UTF8ToString", "$stringToUTF8", "$lengthBytesUTF8", "malloc"],
  ds_file_names: (path, names, size) =>
    dsNode.call(() => {
      const entries = dsNode.fs.readdirSync(dsNode.path(path), { withFileTypes: true });
      const type = (entry) =>
        entry.isFile() ? 8 : entry.isDirectory() ? 4 : entry.isSymbolicLink() ? 10 : 0;
      const bytes = entries.reduce((sum, entry) => sum + lengthBytesUTF8(entry.name) + 2, 0);
      const target = _malloc(Math.max(bytes, 1));
      let at = target;
      for (const entry of entries) {
        HEAPU8[at++] = type(entry);
        at += stringToUTF8(entry.name, at, bytes + target - at) + 1;
      }
      HEAPU32[names >>> 2] = target;
      HEAPU32[size >>> 2] = bytes;
      return 0;
    }),

  ds_file_call__deps: ["$dsNode", "$UTF8ToString"],
  ds_file_call: (name, path, other, number) =>
    dsNode.call(() => {
      const { fs } = dsNode;
      const first = dsNode.path(path);
      const called = UTF8ToString(name);
      switch (called) {
        case "renameSync":
        case "linkSync":
          fs[called](first, dsNode.path(other));
          break;
        case "symlinkSync":
          fs.symlinkSync(UTF8ToString(path), dsNode.path(other));
          break;
        case "utimesSync":
          fs.utimesSync(first, number, number);
          break;
        case "accessSync":
        case "chmodSync":
        case "mkdirSync":
        case "truncateSync":
          fs[called](first, number);
          break;
        case "chdir":
          process.chdir(first);
          break;
        default:
          fs[called](first);
      }
      return 0;
    }),

  ds_file_flush__deps: ["$dsNode"],
  ds_file_flush: (fd) => dsNode.call(() => (dsNode.fs.fsyncSync(fd), 0)),
  ds_file_resize__deps: ["$dsNode"],
  ds_file_resize: (fd, size) => dsNode.call(() => (dsNode.fs.ftruncateSync(fd, size), 0)),
  ds_file_mode__deps: ["$dsNode"],
  ds_file_mode: (fd, mode) => dsNode.call(() => (dsNode.fs.fchmodSync(fd, mode), 0)),

  // Without a zero, as readlink(2).
  ds_read_link__deps: ["$dsNode", "$UTF8ToString"],
  ds_read_link: (path, target, size) =>
    dsNode.call(() => {
      const text = new TextEncoder().encode(dsNode.fs.readlinkSync(dsNode.path(path))).subarray(0, size);
      HEAPU8.set(text, target >>> 0);
      return text.length;
    }),

  ds_current_folder__deps: ["$dsNode", "$stringToUTF8", "$lengthBytesUTF8"],
  ds_current_folder: (target, size) => {
    const folder = process.platform === "win32" ? "/" + process.cwd().replaceAll("\\", "/") : process.cwd();
    return dsNode.text(folder, target, size);
  },

  ds_is_terminal__deps: ["$dsNode"],
  ds_is_terminal: (fd) => (require("node:tty").isatty(fd) ? 1 : 0),

  ds_process_id__deps: ["$dsNode"],
  ds_process_id: () => process.pid,
  ds_user_id: () => process.geteuid?.() ?? 0,
  ds_file_mask: () => process.umask(),

  ds_terminal_columns__proxy: "sync",
  ds_terminal_columns: () => process.stderr.columns ?? process.stdout.columns ?? 0,

  ds_socket_open__deps: ["$dsNode"],
  ds_socket_open__proxy: "sync",
  ds_socket_open: () => dsNode.system.sockets.open(),

  ds_socket_pair__deps: ["$dsNode"],
  ds_socket_pair__proxy: "sync",
  ds_socket_pair: (two) => {
    [HEAP32[two >>> 2], HEAP32[(two >>> 2) + 1]] = dsNode.system.sockets.pair();
    return 0;
  },

  ds_socket_bind__deps: ["$dsNode", "$UTF8ToString"],
  ds_socket_bind__proxy: "sync",
  ds_socket_bind: (fd, address, port) =>
    dsNode.call(() => (dsNode.system.sockets.bind(fd, UTF8ToString(address), port), 0)),

  ds_socket_listen__deps: ["$dsNode"],
  ds_socket_listen__proxy: "sync",
  ds_socket_listen: (fd, wake) => dsNode.system.sockets.listen(fd, (code) => dsNode.done(wake, code)),

  ds_socket_connect__deps: ["$dsNode", "$UTF8ToString"],
  ds_socket_connect__proxy: "sync",
  ds_socket_connect: (fd, address, port, wake) =>
    dsNode.system.sockets.connect(fd, UTF8ToString(address), port, (code) => dsNode.done(wake, code)),

  ds_socket_accept__deps: ["$dsNode"],
  ds_socket_accept__proxy: "sync",
  ds_socket_accept: (fd) => dsNode.call(() => dsNode.system.sockets.accept(fd)),

  ds_socket_receive__deps: ["$dsNode"],
  ds_socket_receive__proxy: "sync",
  ds_socket_receive: (fd, bytes, size, peek) =>
    dsNode.call(() => dsNode.system.sockets.receive(fd, dsNode.bytes(bytes, size), Boolean(peek))),

  ds_socket_send__deps: ["$dsNode"],
  ds_socket_send__proxy: "sync",
  ds_socket_send: (fd, bytes, size) =>
    dsNode.call(() => dsNode.system.sockets.send(fd, dsNode.bytes(bytes, size))),

  ds_socket_shutdown__deps: ["$dsNode"],
  ds_socket_shutdown__proxy: "sync",
  ds_socket_shutdown: (fd, how) => dsNode.call(() => (dsNode.system.sockets.shutdown(fd, how), 0)),

  ds_socket_close__deps: ["$dsNode"],
  ds_socket_close__proxy: "sync",
  ds_socket_close: (fd) => dsNode.call(() => (dsNode.system.sockets.close(fd), 0)),

  ds_socket_address__deps: ["$dsNode", "$stringToUTF8", "$lengthBytesUTF8"],
  ds_socket_address__proxy: "sync",
  ds_socket_address: (fd, other, target, size) =>
    dsNode.call(() => {
      const { address, port } = dsNode.system.sockets.address(fd, Boolean(other));
      const written = dsNode.text(address, target, size);
      return written < 0 ? written : port;
    }),

  ds_socket_poll__deps: ["$dsNode"],
  ds_socket_poll__proxy: "sync",
  ds_socket_poll: (files, count, wake) => {
    const { sockets } = dsNode.system;
    const wanted = [];
    let ready = 0;
    for (let i = 0; i < count; ++i) {
      const at = (files >>> 0) + 8 * i;
      const fd = HEAP32[at >>> 2];
      const events = HEAP16[(at + 4) >>> 1];
      const come = fd < 0 ? 0 : sockets.events(fd) & (events | 8 | 16 | 32); // error, hang-up, no such
      HEAP16[(at + 6) >>> 1] = come;
      if (come) ++ready;
      wanted.push([fd, events]);
    }
    if (ready === 0 && wake) sockets.watch(wake, wanted, () => dsNode.wake(wake, 1));
    return ready;
  },

  ds_socket_forget__deps: ["$dsNode"],
  ds_socket_forget__proxy: "sync",
  ds_socket_forget: (wake) => dsNode.system.sockets.forget(wake),

  ds_process_start__deps: ["$dsNode", "$UTF8ToString"],
  ds_process_start__proxy: "sync",
  ds_process_start: (json, pid, wake) => {
    const { processes } = dsNode.system;
    processes.start(JSON.parse(UTF8ToString(json)), (code, started) => {
      HEAP32[pid >>> 2] = started ?? 0;
      dsNode.done(wake, code);
    });
  },

  ds_process_state__deps: ["$dsNode"],
  ds_process_state__proxy: "sync",
  ds_process_state: (pid) => dsNode.system.processes.state(pid),

  ds_process_ask__deps: ["$dsNode", "$UTF8ToString", "$stringToNewUTF8"],
  ds_process_ask__proxy: "sync",
  ds_process_ask: (json, answer, wake) => {
    dsNode.system.ask(JSON.parse(UTF8ToString(json))).then(
      (value) => {
        HEAPU32[answer >>> 2] = stringToNewUTF8(JSON.stringify(value ?? null));
        dsNode.done(wake);
      },
      (error) => dsNode.done(wake, error.code ?? "EIO"),
    );
  },

  ds_watch_signals__deps: ["$dsNode"],
  ds_watch_signals__proxy: "sync",
  ds_watch_signals: (wake) => dsNode.system.processes.watchSignals((number) => dsNode.wake(wake, number)),

  ds_end_by_signal__deps: ["$dsNode"],
  ds_end_by_signal__proxy: "sync",
  ds_end_by_signal: (number) => dsNode.system.processes.endBySignal(number),

  ds_hash__deps: ["$dsNode", "$UTF8ToString", "$stringToUTF8", "$lengthBytesUTF8"],
  ds_hash: (name, bytes, size, target, room) => {
    const hash = require("node:crypto").createHash(UTF8ToString(name)).update(dsNode.bytes(bytes, size));
    return dsNode.text(hash.digest("base64"), target, room);
  },
});
