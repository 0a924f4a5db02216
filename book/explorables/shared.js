/* The frame of every explorable, with one state and one render function; see README.md in this folder.
   An explorable consists of a pure model (model.js) and a view (view.js). This file does the rest: controls,
   linked numbers, the state in the address, redrawing at the container's width, and spoken summaries. */

const SVG = "http://www.w3.org/2000/svg";
/** Whether the reader prefers reduced motion. */
export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** An HTML element: el("p", { class: "x" }, "text", child). */
export function el(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** The same for SVG: svg("line", { x1: 0, ... }). */
export function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** Format a number like `fixed` of renyi_book.explorables, with a fixed number of digits, a true minus sign
    and no minus zero. */
export function fixed(x, digits) {
  const text = Math.abs(x).toFixed(digits);
  return (x < 0 && Number(text) !== 0 ? "\u2212" : "") + text;
}

/** "ρ_R²" with the R as a subscript, for labels. */
export function indexed(text) {
  return text.split(/([ρσ]_\w)/).map((part) => (/^[ρσ]_\w$/.test(part) ? el("span", {}, part[0], el("sub", {}, part[2])) : part));
}

/** The same for a label inside an SVG text. */
export function lowered(text) {
  return text.split(/_(\w)/).flatMap((part, k) => {
    if (!part) return [];
    if (k % 2) return [svg("tspan", { dy: 4, style: "font-size: 0.75em" }, part)];
    return [k ? svg("tspan", { dy: -4 }, part) : part];
  });
}

/** The linear function that maps d0 to r0 and d1 to r1. */
export function scale(d0, d1, r0, r1) {
  return (x) => r0 + ((x - d0) / (d1 - d0)) * (r1 - r0);
}

/** Whether a finger that went down at `from` has moved sideways; until then, it may be about to scroll the page. */
const sideways = (from, event) =>
  Math.abs(event.clientX - from.clientX) > 10 && Math.abs(event.clientX - from.clientX) > Math.abs(event.clientY - from.clientY);

/** Drag on the stage: grab([x, y]) returns what is there (or nothing), and move(held, [x, y]) moves it. A finger
    that moves up or down scrolls the page and moves nothing else. */
export function drag(stage, grab, move) {
  let held = null, waiting = null; // waiting: the first event of a finger whose direction is not known yet
  const point = (event) => {
    const box = stage.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const moved = (event) => {
    if (waiting && sideways(waiting, event)) waiting = null;
    if (held && !waiting) move(held, point(event));
  };
  stage.style.touchAction = "pan-y";
  stage.addEventListener("pointerdown", (event) => {
    held = grab(point(event)) || null;
    waiting = event.pointerType === "touch" ? event : null;
    if (held) stage.setPointerCapture(event.pointerId);
  });
  stage.addEventListener("pointermove", moved);
  stage.addEventListener("pointerup", (event) => { waiting = null; moved(event); held = null; });
  stage.addEventListener("pointercancel", () => { held = null; });
}

/** Let a finger scroll over a range input, whose value is taken only once the finger moves sideways or is lifted. */
export function slide(input, take, current) {
  let waiting = null;
  input.addEventListener("pointerdown", (event) => { waiting = event.pointerType === "touch" ? event : null; });
  input.addEventListener("pointermove", (event) => { if (waiting && sideways(waiting, event)) { waiting = null; take(Number(input.value)); } });
  input.addEventListener("pointerup", () => { if (waiting) { waiting = null; take(Number(input.value)); } });
  input.addEventListener("pointercancel", () => { if (waiting) { waiting = null; input.value = current(); } });
  input.addEventListener("input", () => { if (!waiting) take(Number(input.value)); });
}

/** Start the explorable in `root`; README.md describes `spec`. */
export function explorable(root, spec) {
  const name = root.dataset.explorable;
  const inline = root.querySelector('script[type="application/json"]');
  const data = inline ? JSON.parse(inline.textContent) : {};
  const initial = Object.freeze(given(spec.initial, data));
  const controls = given(spec.controls, data) || [];
  const single = controls.flatMap((control) => control.controls || [control]);
  let state = fromAddress() || { ...initial };
  let numbers, queued = false, speaking, writing, said = "", playing = null;

  const stage = el("div", { class: "explorable-stage" });
  const words = el("p", { class: "explorable-summary", id: `${name}-summary` });
  const voice = el("p", { class: "explorable-voice", "aria-live": "polite", role: "status" });
  const readouts = el("dl", { class: "explorable-readouts" }, (spec.readouts || []).map(([key, label]) =>
    el("div", {}, el("dt", {}, indexed(label)), el("dd", {}, linked(key)))));
  const panel = el("div", { class: "explorable-controls" });
  const folds = el("div", { class: "explorable-controls" });
  const parts = controls.map(build);
  /* Put the buttons first, so that they share a row on a phone. */
  const shown = parts.filter((part) => !part.fold).map((part) => part.node), isRange = (node) => node.matches(".explorable-range");
  const reset = button("Reset", () => update({ ...initial })), alone = shown.every(isRange);
  panel.append(...shown.filter((node) => !isRange(node)), ...(alone ? [] : [reset]), ...shown.filter(isRange), ...(alone ? [reset] : []));
  folds.append(...parts.filter((part) => part.fold).map((part) => part.node));
  /* The picture and its main control, which fit on one screen of a phone. */
  const main = el("div", { class: "explorable-main" }, stage, panel);
  const live = el("div", { class: "explorable-live" }, main, readouts, folds, words, voice);

  function linked(key) {
    return el("output", { "data-explorable": name, "data-value": key });
  }

  function button(label, act) {
    const node = el("button", { type: "button" }, label);
    node.addEventListener("click", act);
    return node;
  }

  /* Build a control: its node, and a function that makes it follow the state. */
  function build(control) {
    const get = control.get || ((s) => s[control.key]);
    const set = control.set && control.kind !== "button" ? control.set : (s, value) => ({ [control.key]: value });
    if (control.kind === "button") {
      const node = button(control.label, () => update(given(control.set, state, data)));
      return { node, follow: () => { node.disabled = Boolean(control.disabled && control.disabled(state, numbers)); } };
    }
    if (control.kind === "play") {
      const node = button("Play", () => (playing ? stop() : play(control)));
      return { node, follow: () => { node.textContent = playing ? "Pause" : "Play"; } };
    }
    if (control.kind === "group") {
      const members = control.controls.map(build);
      const box = el("div", { class: "explorable-group" }, members.map((member) => member.node));
      const node = el("details", { open: control.open }, el("summary", {}, control.label), box);
      return { node, fold: true, follow: () => members.forEach((member) => member.follow()) };
    }
    if (control.kind === "choice") {
      const node = el("fieldset", {}, el("legend", {}, indexed(control.label)));
      const inputs = control.options.map(([value, label]) => {
        const input = el("input", { type: "radio", name: `${name}-${control.key}`, value });
        input.addEventListener("change", () => update(set(state, value)));
        node.append(el("label", {}, input, label));
        return input;
      });
      return { node, follow: () => inputs.forEach((input, k) => { input.checked = control.options[k][0] === get(state); }) };
    }
    const input = el("input", { type: "range", min: control.min, max: control.max, step: control.step, "aria-label": control.label });
    slide(input, (value) => update(set(state, value)), () => get(state));
    const output = el("output", { "aria-hidden": "true" });
    const node = el("label", { class: "explorable-range" }, el("span", {}, indexed(control.label)), input, output);
    return {
      node,
      follow: () => {
        const value = get(state), text = control.text ? control.text(value, state, numbers) : String(value);
        if (Number(input.value) !== value) input.value = value;
        input.setAttribute("aria-valuetext", text);
        output.textContent = text;
      },
    };
  }

  /* Parse "t=4&p=1,2,3" as a part of the state. Only known keys are kept, and only values of the initial value's type. */
  function parsed(text, prefix = "") {
    const part = {};
    for (const [key, value] of new URLSearchParams(text)) {
      const own = key.startsWith(prefix) ? key.slice(prefix.length) : "";
      const kind = Object.hasOwn(initial, own) ? initial[own] : undefined;
      const list = value.split(",").map(Number);
      if (typeof kind === "string") part[own] = value;
      else if (typeof kind === "number" && Number.isFinite(list[0])) part[own] = list[0];
      else if (Array.isArray(kind) && list.length === kind.length && list.every(Number.isFinite)) part[own] = list;
    }
    return part;
  }

  /* Snap the state to values that the controls can show, and then apply the explorable's own rule, spec.valid. */
  function snapped(next) {
    for (const control of single) {
      const value = next[control.key];
      if (control.kind === "choice" && !control.options.some(([one]) => one === value)) next[control.key] = initial[control.key];
      if (control.kind === "range" && typeof value === "number") {
        const steps = Math.round((Math.min(Math.max(value, control.min), control.max) - control.min) / control.step);
        next[control.key] = Number((control.min + steps * control.step).toFixed(10));
      }
    }
    return spec.valid ? spec.valid(next, data) : next;
  }

  function fromAddress() {
    const part = parsed(location.hash.slice(1), `${name}.`);
    return Object.keys(part).length ? snapped({ ...initial, ...part }) : null;
  }

  function toAddress() {
    const others = location.hash.slice(1).split("&").filter((one) => one.includes("=") && !one.startsWith(`${name}.`));
    const own = Object.keys(initial).filter((key) => String(state[key]) !== String(initial[key]))
      .map((key) => `${name}.${key}=${encodeURIComponent(state[key]).replaceAll("%2C", ",")}`);
    if (own.length || location.hash.includes(`${name}.`)) {
      history.replaceState(history.state, "", `#${[...others, ...own].join("&")}`);
    }
  }

  /* Play: apply `next` repeatedly until it returns nothing. At the end, Play starts again from the beginning. Readers
     who prefer reduced motion see the end at once. */
  function play(control) {
    if (!control.next(state, data)) update(given(control.from, data));
    if (calm()) {
      for (let part = control.next(state, data); part; part = control.next(state, data)) update(part);
      return;
    }
    playing = setInterval(() => {
      update(control.next(state, data), true);
      if (!control.next(state, data)) stop();
    }, control.wait);
    draw();
  }

  function stop() {
    clearInterval(playing);
    playing = null;
    draw();
  }

  function update(part, played = false) {
    if (!part) return;
    if (playing && !played) stop();
    state = snapped({ ...state, ...part });
    draw();
    clearTimeout(writing);
    writing = setTimeout(toAddress, 300);
  }

  function draw() {
    if (!queued) requestAnimationFrame(render);
    queued = true;
  }

  function render() {
    queued = false;
    numbers = spec.compute(state, data);
    const width = Math.max(stage.clientWidth || root.clientWidth, 240);
    const picture = spec.draw({ state, numbers, width, data, stage, update });
    if (picture) {
      picture.setAttribute("role", "img");
      picture.setAttribute("aria-label", spec.title);
      picture.setAttribute("aria-describedby", words.id);
      stage.replaceChildren(picture);
    }
    const texts = spec.outputs ? spec.outputs(numbers, state, data) : {};
    document.querySelectorAll(`output[data-explorable="${name}"][data-value]`).forEach((node) => {
      if (Object.hasOwn(texts, node.dataset.value)) node.textContent = texts[node.dataset.value];
    });
    if (!live.isConnected) live.querySelectorAll("output[data-value]").forEach((node) => { node.textContent = texts[node.dataset.value]; });
    parts.forEach((part) => part.follow());
    const sentence = spec.summary(numbers, state, data);
    words.textContent = sentence;
    if (said && said !== sentence) {
      clearTimeout(speaking);
      speaking = setTimeout(() => { voice.textContent = sentence; }, 700);
    }
    said = sentence;
  }

  render(); // if this throws, the still picture stays
  root.querySelector(".explorable-still").replaceWith(live);
  document.querySelectorAll(`[data-explorable="${name}"][data-set]`).forEach((phrase) => {
    const act = button(phrase.textContent, () => {
      update({ ...initial, ...parsed(phrase.dataset.set) });
      /* Wait for the render, which may change the number of lines in the guide. */
      requestAnimationFrame(() => main.scrollIntoView({ block: "nearest", behavior: calm() ? "auto" : "smooth" }));
    });
    act.className = "explorable-try";
    phrase.replaceWith(act);
  });
  new ResizeObserver(draw).observe(stage);
  addEventListener("hashchange", () => { const linkedState = fromAddress(); if (linkedState) { state = linkedState; draw(); } });
  if (spec.attach) spec.attach({ stage, update, get state() { return state; }, get numbers() { return numbers; }, data });
  if (fromAddress()) main.scrollIntoView({ block: "center" });
  root.dataset.live = "yes";
}

function given(value, ...args) {
  return typeof value === "function" ? value(...args) : value;
}
