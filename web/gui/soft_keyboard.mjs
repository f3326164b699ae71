// Typing on a phone: its keyboard shows only for a text field of the page. An unseen one has the focus
// while a text field of the screens wants it, and hands on what is typed. Client: gui.mjs.

// Deleting must change something even at the beginning.
const sentinel = "·";
// So long may the screens take from the touch to wanting text.
const patience = 500;

export class SoftKeyboard {
  #canvas;
  #module;
  #type; // text → the screens
  #press; // code of a key → the screens
  #field = null;
  #value = sentinel;
  #touched = false; // by a finger last, not by a mouse
  #opened = 0;

  constructor(canvas, module, { type, press }) {
    this.#canvas = canvas;
    this.#module = module;
    this.#type = type;
    this.#press = press;
    canvas.addEventListener("pointerdown", ({ pointerType }) => (this.#touched = pointerType === "touch"));
  }

  /** Whether it is this that took the focus from the canvas: the screens keep theirs. */
  owns(element) {
    return element !== null && element === this.#field;
  }

  /** A finger that was lifted at `event`: iOS shows a keyboard only now, before the screens can know. */
  tapped(event) {
    if (this.#module._gui_over_text()) this.#open(event);
  }

  /** After each frame. */
  follow(now) {
    const open = this.#field !== null && document.activeElement === this.#field;
    if (this.#module._gui_wants_text()) {
      if (!open && this.#touched) this.#open();
    } else if (open && now - this.#opened > patience) this.#canvas.focus({ preventScroll: true });
  }

  #open(event) {
    this.#field ??= this.#make();
    // Where the finger was: the page scrolls to what has the focus.
    if (event) Object.assign(this.#field.style, { left: `${event.clientX}px`, top: `${event.clientY}px` });
    this.#reset();
    this.#opened = performance.now();
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
    // With smaller letters iOS zooms in.
    field.style.cssText =
      "position:fixed;left:0;top:0;width:1px;height:1px;padding:0;border:0;" +
      "opacity:0;pointer-events:none;font-size:16px";
    field.addEventListener("input", () => this.#typed());
    field.addEventListener("keydown", (event) => this.#key(event));
    this.#canvas.after(field);
    return field;
  }

  // Keyboards that propose words replace what they wrote before: what differs from the last value counts.
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
    this.#touched = false; // the screens want text for some frames more
    this.#canvas.focus({ preventScroll: true });
  }
}
