// Typing on a phone: its keyboard appears only for a text field of the page. An invisible one has the focus
// while a text field of the GUI wants it, and passes on the typed text. Client: gui.mjs.

// Deleting must change something even at the beginning of the text.
const sentinel = "·";
// Until the GUI wants text after a touch: finger down, finger up and the field each take a frame.
const patience = { ms: 500, frames: 8 };

export class SoftKeyboard {
  #canvas;
  #module;
  #type; // text → the GUI
  #press; // code of a key → the screens
  #field = null;
  #value = sentinel;
  #touched = false; // by a finger last, not by a mouse
  #opened = { at: 0, frames: 0 };

  constructor(canvas, module, { type, press }) {
    this.#canvas = canvas;
    this.#module = module;
    this.#type = type;
    this.#press = press;
    canvas.addEventListener("pointerdown", ({ pointerType }) => (this.#touched = pointerType === "touch"));
  }

  /** Whether this field took the focus from the canvas: the GUI keeps its own. */
  owns(element) {
    return element !== null && element === this.#field;
  }

  /** A finger was lifted at `event`: iOS shows a keyboard only now, before the GUI can respond. */
  tapped(event) {
    if (this.#module._gui_over_text()) this.#open(event);
  }

  /** After each frame. */
  follow(now) {
    const open = this.#field !== null && document.activeElement === this.#field;
    ++this.#opened.frames;
    if (this.#module._gui_wants_text()) {
      if (!open && this.#touched) this.#open();
    } else if (open && now - this.#opened.at > patience.ms && this.#opened.frames > patience.frames)
      this.#canvas.focus({ preventScroll: true });
  }

  #open(event) {
    this.#field ??= this.#make();
    // At the finger's position: the page scrolls to the focused element.
    if (event) Object.assign(this.#field.style, { left: `${event.clientX}px`, top: `${event.clientY}px` });
    this.#reset();
    this.#opened = { at: performance.now(), frames: 0 };
    this.#field.focus({ preventScroll: true });
  }

  #reset() {
    this.#field.value = this.#value = sentinel;
  }

  #make() {
    const field = document.createElement("input");
    const attributes = {
      type: "text",
      tabindex: "-1",
      "aria-hidden": "true",
      autocomplete: "off",
      autocapitalize: "off",
      autocorrect: "off",
      spellcheck: "false",
      enterkeyhint: "done",
    };
    for (const [name, value] of Object.entries(attributes)) field.setAttribute(name, value);
    // iOS zooms in on smaller letters.
    field.style.cssText =
      "position:fixed;left:0;top:0;width:1px;height:1px;padding:0;border:0;" +
      "opacity:0;pointer-events:none;font-size:16px";
    field.addEventListener("input", () => this.#typed());
    field.addEventListener("keydown", (event) => this.#key(event));
    this.#canvas.after(field);
    return field;
  }

  // Keyboards that propose words replace earlier text: the difference from the last value counts.
  #typed() {
    const before = [...this.#value];
    const now = [...this.#field.value];
    let same = 0;
    while (same < before.length && same < now.length && before[same] === now[same]) ++same;
    for (let i = same; i < before.length; ++i) this.#press("Backspace");
    if (same < now.length) this.#type(now.slice(same).join(""));
    this.#value = this.#field.value;
    if (!this.#value.startsWith(sentinel)) this.#reset();
  }

  #key(event) {
    if (event.isComposing || !/^(Enter|Escape|Arrow\w+|Home|End)$/.test(event.key)) return;
    event.preventDefault();
    this.#press(event.code || event.key);
    if (event.key !== "Enter" && event.key !== "Escape") return;
    this.#touched = false; // the GUI wants text for some more frames
    this.#canvas.focus({ preventScroll: true });
  }
}
