// The GUI on a canvas: starts the wasm module and passes it events. It runs no model and knows no
// page; a person's requests go to the callbacks. Client: screens.mjs.
import { listenToFingers } from "./fingers.mjs";
import { SoftKeyboard } from "./soft_keyboard.mjs";

const folder = new URL("../../gui/", import.meta.url);

// Longer than one frame at 30 per second.
const slowFrameMs = 35;
const longestPauseMs = 100;
// After a touch or key frames follow one another without a pause.
const promptMs = 1000;

/** Views where a finger drags the picture; elsewhere it scrolls. */
const dragged = new Set(["Graph", "Tensor", "Drift"]);

/**
 * Resolves to the GUI, or null where there is no WebGL2.
 * Callbacks: command({do, …}), save(name, bytes), copy(text).
 */
export async function openScreens(canvas, { command, save, copy, dark, touch }) {
  const { default: create } = await import(new URL("driftscope-gui.mjs", folder).href);
  const module = await create({ canvas });
  Object.assign(module, { onCommand: (json) => command(JSON.parse(json)), onSave: save, onCopy: copy });
  const text = (value) => module.stringToNewUTF8(value);
  const withText = (value, call) => {
    const pointer = text(value);
    try {
      return call(pointer);
    } finally {
      module._free(pointer);
    }
  };
  const reply = (pointer) => (pointer === 0 ? null : module.UTF8ToString(pointer));
  if (!canvas.id) canvas.id = "screens";
  if (!withText(`#${canvas.id}`, (id) => module._gui_start(id, dark ? 1 : 0, touch ? 1 : 0))) return null;

  const resize = () => {
    const scale = Math.min(3, window.devicePixelRatio || 1);
    const { width, height } = canvas.getBoundingClientRect();
    canvas.width = Math.max(1, Math.round(width * scale));
    canvas.height = Math.max(1, Math.round(height * scale));
    module._gui_resize(canvas.width, canvas.height, scale);
  };
  new ResizeObserver(resize).observe(canvas);
  resize();
  const state = () => {
    const [view, layer] = reply(module._gui_state()).split("\n");
    return { view, layer };
  };
  const keyboard = listen(canvas, module, withText, state);
  let frames = 0;
  let last = 0; // when the previous frame was drawn
  let touched = -Infinity;
  for (const kind of ["pointerdown", "pointermove", "wheel", "keydown", "input"])
    canvas.parentElement.addEventListener(kind, () => (touched = performance.now()), { passive: true });
  const next = (pause) =>
    pause > 0 ? setTimeout(() => requestAnimationFrame(draw), pause) : requestAnimationFrame(draw);
  const draw = (now) => {
    let pause = 0;
    if (module._gui_frame(now)) {
      // Without a GPU frames are slow, and a browser that always draws lets the page's downloads wait.
      const took = now - last;
      if (took > slowFrameMs && now - touched > promptMs) pause = Math.min(took, longestPauseMs);
      last = now;
      ++frames;
      Object.assign(canvas.dataset, state()); // for tests and other scripts
      keyboard.follow(now);
    }
    next(pause);
  };
  next(0);
  const must = (message) => {
    if (message !== null) throw new Error(message);
  };
  /** A copy in the module's memory, which whoever takes it frees. */
  const placed = (bytes, what) => {
    const pointer = module._malloc(bytes.length) >>> 0;
    if (pointer === 0) throw new Error(`no memory for ${what} of ${bytes.length} bytes`);
    new Uint8Array(module.wasmMemory.buffer, pointer, bytes.length).set(bytes);
    return pointer;
  };
  return {
    state,
    frames: () => frames,
    feed: (feed) => must(withText(JSON.stringify(feed), (json) => reply(module._gui_feed(json)))),
    /** `traces`: bytes of whole trace files; `run` as described in web/gui/page_feed.hpp. */
    show(run, traces) {
      for (const bytes of traces) must(reply(module._gui_trace(placed(bytes, "a trace"), bytes.length)));
      must(withText(JSON.stringify(run), (json) => reply(module._gui_show(json))));
    },
    /** `bytes` of a kept comparison. */
    showKept(bytes) {
      must(reply(module._gui_kept(placed(bytes, "a kept comparison"), bytes.length)));
    },
    /** `files`: [{path, bytes}] of a study, attacks or curves. Returns what cannot be used, or null. */
    showResults(files) {
      for (const { path, bytes } of files) {
        const pointer = placed(bytes, path);
        withText(path, (name) => module._gui_file(name, pointer, bytes.length));
      }
      return reply(module._gui_results());
    },
    view: (title) => withText(title, (name) => module._gui_view(name)) === 1,
    layer: (name) => withText(name, (pointer) => module._gui_layer(pointer)),
  };
}

/** Returns the keyboard of a touch screen. */
function listen(canvas, module, withText, state) {
  const press = (code, down, ctrl = 0, shift = 0, alt = 0) =>
    withText(code, (name) => module._gui_key(name, down, ctrl, shift, alt));
  const type = (characters) => withText(characters, (pointer) => module._gui_text(pointer));
  const keyboard = new SoftKeyboard(canvas, module, {
    type,
    press: (code) => [1, 0].forEach((down) => press(code, down)),
  });
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    const scale = canvas.width / box.width;
    return [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
  };
  const mouseButton = ({ button }) => (button === 2 ? 1 : button === 1 ? 2 : 0);
  canvas.addEventListener("pointerdown", (event) => {
    canvas.focus({ preventScroll: true });
    if (event.pointerType === "touch") return;
    canvas.setPointerCapture(event.pointerId);
    module._gui_pointer(...place(event), mouseButton(event), 1, 0);
  });
  canvas.addEventListener(
    "pointermove",
    (event) => event.pointerType !== "touch" && module._gui_pointer(...place(event), -1, 0, 0),
  );
  canvas.addEventListener(
    "pointerup",
    (event) =>
      event.pointerType !== "touch" && module._gui_pointer(...place(event), mouseButton(event), 0, 0),
  );
  canvas.addEventListener("pointerleave", (event) => event.pointerType !== "touch" && module._gui_leave());
  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  listenToFingers(canvas, module, {
    place,
    drags: () => dragged.has(state().view),
    tapped: (event) => keyboard.tapped(event),
  });
  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const unit = event.deltaMode === 1 ? 1 / 3 : 1 / 100;
      module._gui_wheel(-event.deltaX * unit, -event.deltaY * unit);
    },
    { passive: false },
  );
  const key = (event, down) => {
    const ctrl = event.ctrlKey || event.metaKey;
    press(event.code, down, ctrl ? 1 : 0, event.shiftKey ? 1 : 0, event.altKey ? 1 : 0);
    if (!down) return;
    // Tab leaves the canvas: keyboard users must not be trapped in it.
    if (event.code === "Tab") return;
    if (event.key.length === 1 && !ctrl && !event.altKey) type(event.key);
    // F5, Ctrl+R, Ctrl+L and the like are left to the browser.
    const ours =
      !ctrl ||
      ["KeyK", "KeyZ", "KeyY", "KeyC", "KeyS", "KeyE", "KeyP", "KeyA", "KeyV", "Period"].includes(event.code);
    if (ours && !/^F\d+$/.test(event.key)) event.preventDefault();
  };
  canvas.addEventListener("keydown", (event) => key(event, 1));
  canvas.addEventListener("keyup", (event) => key(event, 0));
  canvas.addEventListener("focus", () => module._gui_focus(1));
  canvas.addEventListener(
    "blur",
    ({ relatedTarget }) => keyboard.owns(relatedTarget) || module._gui_focus(0),
  );
  return keyboard;
}
