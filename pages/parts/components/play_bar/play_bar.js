// Playback of the iterations of training runs. tile.js is included before this file.
//
// data: { token, label, unit, steps: [iteration], tiles: { id: item }, ratio, known: { id: [box] }, lanes: [{ title,
// violated, curves: [name], frames: [{ iteration, facts: [[name, text]], values: { name: number | null }, top: [id],
// ranks: [rank], boxes: [box], moved_up: [[id, passed]] }] }] }. Boxes, where there is a ratio: [left, top, width,
// height] in shares of a tile of that ratio. The keys: Space plays and pauses, Left and Right step, Home and End. At each
// step a lane shows its latest frame. Nothing is sent to the server.

const PAUSE = 400; // milliseconds between two steps
const WIDE = 100; // width of a chart in its own units
const HIGH = 40;
const LOOKS = ["first", "second"]; // of the curves of a chart
const EDGES = ["left", "top", "width", "height"]; // of a box

function made(kind, name, text) {
  const element = document.createElement(kind);
  element.className = name;
  if (text !== undefined) element.textContent = text;
  return element;
}

function drawn(kind, attributes) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", kind);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

function button(text, label, press) {
  const element = made("button", "button", text);
  element.type = "button";
  name(element, label);
  element.onclick = press;
  return element;
}

function name(element, label, keys = "") {
  element.setAttribute("aria-label", label);
  element.title = `${label}${keys}`;
}

/** The index of a lane's frame at each step; -1 before its first frame. */
function framesAt(steps, frames) {
  let current = -1;
  return steps.map((step) => {
    while (current + 1 < frames.length && frames[current + 1].iteration <= step) current += 1;
    return current;
  });
}

// ---------------------------------------------------------------------------------------------------------
// A lane
// ---------------------------------------------------------------------------------------------------------

/** A curve of a chart, thin, but thick up to an iteration. at: maps a frame and its value to a point. */
function curveOf(svg, style, curve, frames, at) {
  const known = frames.filter((frame) => frame.values[curve] !== null);
  const points = known.map((frame) => at(frame, frame.values[curve]));
  svg.append(drawn("polyline", { class: `${style} ahead`, points: points.join(" ") }));
  const line = svg.appendChild(drawn("polyline", { class: style, points: "" }));
  return (iteration) => {
    const count = known.filter((frame) => frame.iteration <= iteration).length;
    line.setAttribute("points", points.slice(0, count).join(" "));
  };
}

/** The curves of a lane over the steps, aligned with the slider. */
function chartOf({ steps, unit, ratio }, { curves, frames }) {
  const svg = drawn("svg", { class: "curves", viewBox: `0 0 ${WIDE} ${HIGH}`, preserveAspectRatio: "none", role: "img" });
  const across = (step) => (WIDE * step) / Math.max(1, steps.length - 1);
  /** Maps a frame and its value to a point; curves of one scale are given together. */
  const scaleOf = (together) => {
    const values = frames.flatMap((frame) => together.map((curve) => frame.values[curve])).filter((value) => value !== null);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    return (frame, value) => {
      const y = HIGH - 1 - ((HIGH - 2) * (value - low)) / (high - low || 1);
      return `${across(steps.indexOf(frame.iteration))},${y}`;
    };
  };
  const lines = curves.map((curve, index) =>
    curveOf(svg, LOOKS[index], curve, frames, scaleOf(ratio === null ? curves : [curve])),
  );
  const cursor = svg.appendChild(drawn("line", { class: "cursor", y1: 0, y2: HIGH, x1: 0, x2: 0 }));
  const paint = (step, frame) => {
    for (const line of lines) line(frame.iteration);
    cursor.setAttribute("x1", across(step));
    cursor.setAttribute("x2", across(step));
    const now = frame.facts.filter(([fact]) => curves.includes(fact)).map((fact) => fact.join(" "));
    svg.setAttribute("aria-label", `${curves.join(" and ")} up to ${unit.toLowerCase()} ${frame.iteration}: ${now.join(", ")}`);
  };
  return { svg, paint };
}

function lay(element, [left, top, width, height]) {
  const edges = { left, top, width, height };
  for (const [edge, share] of Object.entries(edges)) element.style[edge] = `${100 * share}%`;
}

/** Draw the known boxes of a tile, dashed, and the solid one, which glides from where it was. */
function frame(tile, { known, box }, moves) {
  const over = tile.over ?? made("div", "over");
  over.setAttribute("aria-hidden", "true");
  if (!tile.over) {
    tile.over = over;
    for (const edges of known) lay(over.appendChild(made("div", "box known")), edges);
    over.append(made("div", "box"));
  }
  const solid = over.lastChild;
  const before = solid.style.cssText && { ...Object.fromEntries(EDGES.map((edge) => [edge, solid.style[edge]])) };
  lay(solid, box);
  tile.append(over);
  if (!before || !moves || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const after = Object.fromEntries(EDGES.map((edge) => [edge, solid.style[edge]]));
  solid.animate([before, after], { duration: MILLISECONDS, easing: "ease-out" });
}

/** A row of tiles that keeps the elements of all ids it has shown, so that no thumbnail is decoded twice. */
function rowOf(name, label) {
  const root = made("div", `strip ${name}`);
  root.setAttribute("role", "list");
  root.setAttribute("aria-label", label);
  const known = new Map();
  const paint = (items, moves) => {
    const before = placesOf(root);
    const tiles = items.map((item) => {
      if (!known.has(item.id)) known.set(item.id, blank(item.id));
      const tile = known.get(item.id);
      fill(tile, item, null);
      if (item.box) frame(tile, item, moves);
      return tile;
    });
    if (tiles.length !== root.children.length || tiles.some((tile, index) => tile !== root.children[index])) {
      root.replaceChildren(...tiles);
      if (moves) glide(tiles, before);
    }
  };
  return { root, paint };
}

/** A number of a frame, preceded by the line style of its curve if it has one. */
function factOf([name, text], curves) {
  const fact = made("span", ["fact", ...LOOKS.filter((_, index) => curves[index] === name)].join(" "));
  fact.append(made("span", "name", name), made("span", "number", text));
  return fact;
}

/** One run: `paint` shows its frame at a step, and returns it as text. */
function laneOf(data, lane) {
  const root = made("section", "lane");
  const facts = made("div", "facts");
  const chart = chartOf(data, lane);
  const count = Math.max(...lane.frames.map((frame) => frame.top.length));
  const top = rowOf("top", `top ${count} ${data.ratio === null ? "samples" : "images"}`);
  if (data.ratio !== null) {
    root.dataset.images = "";
    top.root.style.setProperty("--tile-ratio", data.ratio);
  }
  root.append(made("div", "title", lane.title), facts, chart.svg, top.root);
  const violated = made("div", "violated", lane.violated);
  const movedUp = rowOf("moved-up", lane.violated);
  if (lane.violated) root.append(violated, movedUp.root);
  const at = framesAt(data.steps, lane.frames);
  const shown = (id, left, more) => ({ ...data.tiles[id], id, left, alt: `${more}${data.tiles[id].alt}` });
  const paint = (step, moves) => {
    const frame = lane.frames[at[step]];
    root.dataset.begun = String(Boolean(frame));
    if (!frame) return "";
    facts.replaceChildren(...frame.facts.map((fact) => factOf(fact, lane.curves)));
    chart.paint(step, frame);
    const ranked = frame.top.map((id, place) => {
      const boxes = data.ratio === null ? {} : { known: data.known[id] ?? [], box: frame.boxes[place] };
      return { ...shown(id, `${frame.ranks[place]}`, `rank ${frame.ranks[place]}, `), ...boxes };
    });
    top.paint(ranked, moves);
    violated.dataset.none = String(!frame.moved_up.length);
    movedUp.paint(frame.moved_up.map(([id, passed]) => shown(id, `↑${passed}`, `passes ${passed} relevant, `)), moves);
    return `${lane.title}: ${frame.facts.map((fact) => fact.join(" ")).join(", ")}`;
  };
  return { root, paint };
}

// ---------------------------------------------------------------------------------------------------------
// The bar
// ---------------------------------------------------------------------------------------------------------

/** The step to show: the previous one, or the last one if the previous one was the last or belongs to another token. */
function positionIn(data, state) {
  const last = data.steps.length - 1;
  if (state.token !== data.token || state.position === state.steps.length - 1) return last;
  const before = data.steps.findLastIndex((step) => step <= state.steps[state.position]);
  return Math.max(0, before); // some iterations may have been dropped
}

function pause(state) {
  clearInterval(state.timer);
  state.timer = null;
}

/** The player, which moves along the steps. A running timer uses `root.player`, so it continues when frames are added. */
function playerOf(root, state, last, paint, announce) {
  const go = (position) => {
    state.position = Math.max(0, Math.min(last, position));
    paint(true);
  };
  const jump = (position) => {
    pause(state);
    go(position);
  };
  const step = (position) => {
    jump(position);
    announce();
  };
  const tick = () => {
    if (!root.isConnected) return pause(state);
    if (state.position >= root.player.last) pause(state);
    root.player.go(state.position + 1);
  };
  const toggle = () => {
    if (state.timer !== null) pause(state);
    else {
      if (state.position === last) state.position = 0;
      state.timer = setInterval(tick, PAUSE);
    }
    paint(true);
  };
  return { last, go, jump, step, toggle };
}

/** Buttons, a slider, and the current iteration. */
function barOf(data, state, player) {
  const root = made("div", "bar");
  const play = button("▶", "Play", () => player().toggle());
  const unit = data.unit.toLowerCase();
  const back = button("‹", `Previous ${unit} (Left)`, () => player().step(state.position - 1));
  const on = button("›", `Next ${unit} (Right)`, () => player().step(state.position + 1));
  const slider = made("input", "position");
  slider.type = "range";
  slider.min = 0;
  slider.max = data.steps.length - 1;
  slider.setAttribute("aria-label", data.unit);
  slider.oninput = () => player().jump(Number(slider.value));
  const where = made("output", "where");
  root.append(play, back, slider, on, where);
  const paint = () => {
    const [now, end] = [data.steps[state.position], data.steps.at(-1)].map((step) => step.toLocaleString("en"));
    slider.value = state.position;
    where.textContent = `${data.unit} ${now} of ${end}`;
    slider.setAttribute("aria-valuetext", where.textContent);
    play.textContent = state.timer === null ? "▶" : "❚❚";
    name(play, state.timer === null ? "Play" : "Pause", " (Space)");
    return where.textContent;
  };
  return { root, paint };
}

/** Replace the elements of `root`; if a button or the slider had the focus, it gets the focus again. */
function replace(root, ...elements) {
  const inputs = () => [...root.querySelectorAll("button, input")];
  const focused = inputs().indexOf(root.getRootNode().activeElement);
  root.replaceChildren(...elements);
  if (focused >= 0) inputs()[focused]?.focus();
}

function press(event, state, player) {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.key === " " && event.target.tagName === "BUTTON") return; // the key presses the button
  const act = {
    " ": player.toggle,
    ArrowLeft: () => player.step(state.position - 1),
    ArrowRight: () => player.step(state.position + 1),
    Home: () => player.step(0),
    End: () => player.step(player.last),
  }[event.key];
  if (!act) return;
  event.preventDefault();
  event.stopPropagation();
  act();
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".play");
  const announcement = parentElement.querySelector(".screen-reader");
  const appears = !root.state;
  const state = (root.state ??= { token: null, position: 0, steps: [], timer: null });
  const position = positionIn(data, state);
  if (state.token !== data.token) pause(state);
  Object.assign(state, { token: data.token, steps: data.steps, position });
  root.setAttribute("aria-label", `${data.label}. Space plays and pauses, Left and Right step.`);

  const lanes = data.lanes.map((lane) => laneOf(data, lane));
  const bar = barOf(data, state, () => root.player);
  let words = [];
  const paint = (moves) => {
    words = [bar.paint(), ...lanes.map((lane) => lane.paint(state.position, moves)).filter(Boolean)];
  };
  const announce = () => {
    announcement.textContent = words.join("; ");
  };
  root.player = playerOf(root, state, data.steps.length - 1, paint, announce);
  root.onkeydown = (event) => press(event, state, root.player);
  const beside = made("div", "lanes");
  beside.append(...lanes.map((lane) => lane.root));
  root.dataset.single = String(data.steps.length === 1);
  replace(root, bar.root, beside);
  paint(false);
  // The keys of the first bar of a page work at once, unless the user is elsewhere.
  if (appears && document.activeElement === document.body) root.focus({ preventScroll: true });
}
