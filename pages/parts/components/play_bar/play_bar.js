// Playback of the iterations of training runs. tile.js is included before this file.
//
// data: { token, label, steps: [iteration], tiles: { id: item }, lanes: [{ title, violated, frames: [{ iteration, primal, dual,
// top: [id], ap, precision, moved_up: [[id, passed]] }] }] }. The keys: Space plays and pauses, Left and Right step, Home and
// End. At each step a lane shows its latest frame. Nothing is sent to the server.

const PAUSE = 400; // milliseconds between two steps
const WIDE = 100; // width of a chart in its own units
const HIGH = 40;

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

function button(name, label, press) {
  const element = made("button", name);
  element.type = "button";
  element.setAttribute("aria-label", label);
  element.title = label;
  element.onclick = press;
  return element;
}

const number = (value) => (value === null ? "–" : Number(value.toPrecision(4)).toString());
const share = (value) => value.toFixed(3);

/** The index of a lane's frame at each step; -1 before its first frame. */
function framesAt(steps, frames) {
  let current = -1;
  return steps.map((step) => {
    while (current + 1 < frames.length && frames[current + 1].iteration <= step) current += 1;
    return current;
  });
}

/** The bounds of a lane over the steps, aligned with the slider. */
function chartOf(steps, frames) {
  const svg = drawn("svg", { class: "bounds", viewBox: `0 0 ${WIDE} ${HIGH}`, preserveAspectRatio: "none", role: "img" });
  const values = frames.flatMap(({ primal, dual }) => (dual === null ? [primal] : [primal, dual]));
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const last = Math.max(1, steps.length - 1);
  const at = (frame, value) => {
    const x = (WIDE * steps.indexOf(frame.iteration)) / last;
    const y = HIGH - 1 - ((HIGH - 2) * (value - low)) / (high - low || 1);
    return `${x},${y}`;
  };
  const known = { primal: frames, dual: frames.filter((frame) => frame.dual !== null) };
  const lines = {};
  for (const name of ["primal", "dual"]) {
    const points = known[name].map((frame) => at(frame, frame[name]));
    svg.append(drawn("polyline", { class: `${name} ahead`, points: points.join(" ") }));
    lines[name] = svg.appendChild(drawn("polyline", { class: name, points: "" }));
    lines[name].upTo = (count) => points.slice(0, known[name].filter((_, index) => index < count).length).join(" ");
  }
  const cursor = svg.appendChild(drawn("line", { class: "cursor", y1: 0, y2: HIGH, x1: 0, x2: 0 }));
  const paint = (step, iteration) => {
    for (const name of ["primal", "dual"]) {
      const count = known[name].filter((frame) => frame.iteration <= iteration).length;
      lines[name].setAttribute("points", lines[name].upTo(count));
    }
    const x = (WIDE * step) / last;
    cursor.setAttribute("x1", x);
    cursor.setAttribute("x2", x);
  };
  return { svg, paint };
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
      return tile;
    });
    if (tiles.length !== root.children.length || tiles.some((tile, index) => tile !== root.children[index])) {
      root.replaceChildren(...tiles);
      if (moves) glide(tiles, before);
    }
  };
  return { root, paint };
}

function laneOf(data, lane) {
  const root = made("section", "lane");
  root.append(made("div", "title", lane.title));
  const facts = root.appendChild(made("div", "facts"));
  const chart = chartOf(data.steps, lane.frames);
  root.append(chart.svg);
  const count = Math.max(...lane.frames.map((frame) => frame.top.length));
  const top = rowOf("top", `top ${count} samples`);
  root.append(top.root);
  const violated = lane.violated ? root.appendChild(made("div", "violated", lane.violated)) : null;
  const movedUp = rowOf("moved-up", lane.violated);
  if (violated) root.append(movedUp.root);
  const at = framesAt(data.steps, lane.frames);
  const words = ({ iteration, primal, dual, ap, precision }) => [
    ["iteration", iteration.toLocaleString("en")],
    ["primal", number(primal)],
    ["dual", number(dual)],
    ["AP", ap === null ? "–" : share(ap)],
    [`P@${count}`, share(precision)],
  ];
  const paint = (step, moves) => {
    const frame = lane.frames[at[step]];
    root.dataset.begun = String(Boolean(frame));
    if (!frame) return "";
    const listed = words(frame);
    facts.replaceChildren(
      ...listed.map(([name, value]) => {
        const fact = made("span", `fact ${name}`);
        fact.append(made("span", "name", name), made("span", "number", value));
        return fact;
      }),
    );
    chart.paint(step, frame.iteration);
    chart.svg.setAttribute("aria-label", `bounds up to iteration ${frame.iteration}: primal ${number(frame.primal)}, dual ${number(frame.dual)}`);
    const shown = (id, left, more) => ({ ...data.tiles[id], id, left, alt: `${more}${data.tiles[id].alt}` });
    top.paint(frame.top.map((id, place) => shown(id, `${place + 1}`, `rank ${place + 1}, `)), moves);
    if (violated) {
      violated.dataset.none = String(!frame.moved_up.length);
      movedUp.paint(frame.moved_up.map(([id, passed]) => shown(id, `↑${passed}`, `passes ${passed} relevant, `)), moves);
    }
    return `${lane.title}: ${listed.map((pair) => pair.join(" ")).join(", ")}`;
  };
  return { root, paint };
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".play");
  const said = parentElement.querySelector(".said");
  const state = (root.state ??= { token: null, position: 0, steps: [], timer: null });
  const last = data.steps.length - 1;
  const followed = state.token === data.token && state.steps[state.position] === state.steps.at(-1);
  if (state.token === data.token && !followed) {
    const same = data.steps.findLastIndex((step) => step <= state.steps[state.position]);
    state.position = Math.max(0, same); // some iterations may have been dropped
  } else {
    state.position = last;
  }
  if (state.token !== data.token) {
    clearInterval(state.timer);
    state.timer = null;
  }
  state.token = data.token;
  state.steps = data.steps;
  root.setAttribute("aria-label", `${data.label}. Space plays and pauses, Left and Right step.`);

  const slider = made("input", "position");
  slider.type = "range";
  slider.min = 0;
  slider.max = last;
  slider.setAttribute("aria-label", "Iteration");
  const where = made("output", "where");
  const lanes = data.lanes.map((lane) => laneOf(data, lane));

  const paint = (moves) => {
    slider.value = state.position;
    where.textContent = `Iteration ${data.steps[state.position].toLocaleString("en")} of ${data.steps[last].toLocaleString("en")}`;
    slider.setAttribute("aria-valuetext", where.textContent);
    state.words = lanes.map((lane) => lane.paint(state.position, moves)).filter(Boolean);
    const playing = state.timer !== null;
    play.textContent = playing ? "❚❚" : "▶";
    play.setAttribute("aria-label", playing ? "Pause" : "Play");
    play.title = playing ? "Pause (Space)" : "Play (Space)";
  };
  const go = (position) => {
    state.position = Math.max(0, Math.min(last, position));
    paint(true);
  };
  const pause = () => {
    clearInterval(state.timer);
    state.timer = null;
  };
  const by = (step) => {
    pause();
    go(state.position + step);
    said.textContent = [where.textContent, ...state.words].join("; ");
  };
  const tick = () => {
    if (!root.isConnected) return pause();
    if (state.position >= root.last) pause();
    root.go(state.position + 1);
  };
  const toggle = () => {
    if (state.timer !== null) pause();
    else {
      if (state.position === last) state.position = 0;
      state.timer = setInterval(tick, PAUSE);
    }
    paint(true);
  };
  Object.assign(root, { go, last }); // so that a running timer continues when frames are added
  const play = button("button", "Play", toggle);
  const back = button("button", "Previous iteration (Left)", () => by(-1));
  const on = button("button", "Next iteration (Right)", () => by(1));
  back.textContent = "‹";
  on.textContent = "›";
  slider.oninput = () => {
    pause();
    go(Number(slider.value));
  };
  const bar = made("div", "bar");
  bar.append(play, back, slider, on, where);
  const beside = made("div", "lanes");
  beside.append(...lanes.map((lane) => lane.root));
  const focused = root.contains(root.getRootNode().activeElement) ? root.getRootNode().activeElement : null;
  const again = focused && focused !== root ? [...root.querySelectorAll("button, input")].indexOf(focused) : -1;
  root.replaceChildren(bar, beside);
  if (again >= 0) root.querySelectorAll("button, input")[again]?.focus();
  paint(false);
  root.onkeydown = (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === " " && event.target.tagName === "BUTTON") return; // the key presses the button
    const act = {
      " ": toggle,
      ArrowLeft: () => by(-1),
      ArrowRight: () => by(1),
      Home: () => by(-state.position),
      End: () => by(last - state.position),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  };
}
