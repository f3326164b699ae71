// Touch input for the GUI: a tap is a click, one finger scrolls or drags, two zoom. Where the page scrolls
// beneath the canvas (touch-action), the browser takes over the touch, and the action begun is undone.
// Client: gui.mjs.

// A smaller movement (in CSS pixels) is a tap.
const tapDistance = 8;

// A frame later, so that ImGui has seen the press, or the finger's position.
const soon = (action) => setTimeout(action, 60);

/**
 * `place(event)` → pixels of the canvas; `drags()`: whether one finger drags the picture or scrolls;
 * `tapped(event)` is called while the browser still counts it as a user gesture.
 */
export function listenToFingers(canvas, module, { place, drags, tapped }) {
  const fingers = new Map(); // pointerId → the last event
  let one = null; // {x, y, moved, drags} of the only finger
  const perPixel = () => canvas.width / canvas.getBoundingClientRect().width;
  const away = () => module._gui_leave();
  const press = (event) => module._gui_pointer(...place(event), 0, 1, 1);
  const release = (event) => module._gui_pointer(...place(event), 0, 0, 1);
  const span = () => {
    const [a, b] = [...fingers.values()];
    return {
      length: Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY),
      middle: { clientX: (a.clientX + b.clientX) / 2, clientY: (a.clientY + b.clientY) / 2 },
    };
  };
  const giveUp = () => {
    module._gui_let_go();
    one = null;
  };

  canvas.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "touch") return;
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, event);
    if (fingers.size > 1) return giveUp();
    one = { x: event.clientX, y: event.clientY, moved: false, drags: drags() };
    if (one.drags) press(event);
    else module._gui_pointer(...place(event), -1, 0, 1);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!fingers.has(event.pointerId)) return;
    const before = fingers.size === 2 ? span().length : 0;
    fingers.set(event.pointerId, event);
    if (fingers.size === 2) {
      const { length, middle } = span();
      module._gui_pointer(...place(middle), -1, 0, 1);
      if (before > 0 && length > 0) module._gui_wheel(0, Math.log(length / before) / Math.log(1.2));
      return;
    }
    if (!one) return;
    const [dx, dy] = [event.clientX - one.x, event.clientY - one.y];
    if (!one.moved && Math.hypot(dx, dy) < tapDistance) return;
    one.moved = true;
    if (one.drags) return module._gui_pointer(...place(event), -1, 0, 1);
    module._gui_scroll(dx * perPixel(), dy * perPixel());
    Object.assign(one, { x: event.clientX, y: event.clientY });
  });
  canvas.addEventListener("pointerup", (event) => {
    if (!fingers.delete(event.pointerId)) return;
    if (!one) return soon(away);
    const last = one;
    one = null;
    if (last.moved && !last.drags) return soon(away);
    if (!last.moved) tapped(event);
    if (!last.drags) press(event);
    soon(() => release(event));
  });
  canvas.addEventListener("pointercancel", (event) => {
    if (fingers.delete(event.pointerId)) giveUp();
  });
}
