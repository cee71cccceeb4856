// Film strips below the true order. Texts come from files that are not trusted: they are set as text.
//
// data: { token, label, frames: [{ src, alt, caption, grade }], truth: strip | null, strips: [strip] }
// strip: { title, note, order: [index of a frame], movable }. The movable strip is rearranged by dragging or with keys:
// Left, Right, Home and End move the focus, with Shift they move the image. The browser keeps its order until `token`
// changes, so that no late response of the server undoes a move.

const MILLISECONDS = 200;
const WORDS = { ahead: "too early", behind: "too late", same: "correct" };

function part(kind, name, text) {
  const element = document.createElement(kind);
  element.className = name;
  if (text !== undefined) element.textContent = text;
  return element;
}

function svg(kind, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", kind);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

/** The true order; frames of equal grade keep their order in `order`, so that their lines do not cross. */
function settled(data, order) {
  return [...order].sort((one, other) => data.frames[other].grade - data.frames[one].grade);
}

function kindOf(own, place) {
  return place < own ? "ahead" : place > own ? "behind" : "same";
}

/** Lines from the positions in one order to those in another. */
function band(from, to) {
  const count = to.length;
  const made = svg("svg", { class: "band", viewBox: `0 0 ${count} 1`, preserveAspectRatio: "none", "aria-hidden": "true" });
  to.forEach((frame, place) => {
    const own = from.indexOf(frame);
    made.append(svg("line", { class: kindOf(own, place), x1: own + 0.5, y1: 0.02, x2: place + 0.5, y2: 0.98 }));
  });
  return made;
}

function tile(data, frame, place, strip, from) {
  const { src, alt, caption } = data.frames[frame];
  const made = part("div", "tile");
  const own = from.indexOf(frame);
  const where = data.truth && strip !== data.truth ? `, ${WORDS[kindOf(own, place)]}, true position ${own + 1}` : "";
  made.dataset.frame = frame;
  made.setAttribute("role", strip.movable ? "option" : "listitem");
  const img = part("img", "");
  img.src = src;
  img.alt = `position ${place + 1}${where}: ${alt}`;
  img.draggable = false;
  const foot = part("span", "caption", data.truth ? caption : `${place + 1}.`);
  foot.setAttribute("aria-hidden", "true");
  made.append(img, foot);
  return made;
}

function row(data, order, strip, name, from = order) {
  const made = part("div", name);
  made.setAttribute("role", strip.movable ? "listbox" : "list");
  made.setAttribute("aria-label", strip.movable ? `${strip.title}: Shift with Left or Right moves an image` : strip.title);
  made.append(...order.map((frame, place) => tile(data, frame, place, strip, from)));
  return made;
}

function section(data, strip, order) {
  const made = part("section", strip.movable ? "strip movable" : "strip");
  const head = part("div", "head");
  head.append(part("span", "title", strip.title), part("span", "note", strip.note));
  made.append(head);
  if (data.truth && strip !== data.truth) {
    const from = settled(data, order);
    const mini = row(data, from, data.truth, "row mini");
    mini.setAttribute("aria-hidden", "true");
    made.append(mini, band(from, order), row(data, order, strip, "row", from));
  } else {
    made.append(row(data, order, strip, "row"));
  }
  return made;
}

function glide(root, before) {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  for (const one of root.querySelectorAll(".movable > .row:last-child > .tile")) {
    const across = (before.get(one.dataset.frame) ?? one.offsetLeft) - one.offsetLeft;
    if (across) one.animate([{ transform: `translateX(${across}px)` }, { transform: "none" }], MILLISECONDS);
  }
}

export default function ({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".film");
  const announcement = parentElement.querySelector(".screen-reader");
  const state = (root.state ??= { token: null, order: [], current: 0, moves: 0 });
  root.setAttribute("role", "group");
  root.style.setProperty("--count", data.frames.length);
  root.setAttribute("aria-label", data.label);
  const strip = data.strips.find((one) => one.movable);
  if (!strip) {
    state.token = null; // so that a movable strip of the same frames starts with the server's order
  } else if (state.token !== data.token) {
    state.token = data.token;
    state.order = [...strip.order];
    state.current = 0;
  }
  const own = () => root.querySelector(".movable > .row:last-child");

  const paint = () => {
    const scrolled = root.scrollLeft;
    const focused = own()?.contains(root.getRootNode().activeElement);
    const before = new Map([...(own()?.children ?? [])].map((one) => [one.dataset.frame, one.offsetLeft]));
    const listed = data.truth ? [data.truth, ...data.strips] : data.strips;
    root.style.setProperty("--strips", listed.length);
    root.replaceChildren(...listed.map((one) => section(data, one, one.movable ? state.order : one.order)));
    root.scrollLeft = scrolled;
    if (!strip) return;
    [...own().children].forEach((one, place) => {
      one.tabIndex = place === state.current ? 0 : -1;
      if (state.held === state.order[place]) one.classList.add("held");
    });
    if (focused) own().children[state.current].focus();
    glide(root, before);
  };
  const report = () => {
    state.moves += 1;
    setStateValue("own", { token: data.token, order: [...state.order], click: `${Date.now()}-${state.moves}` });
  };
  const move = (from, to) => {
    const [frame] = state.order.splice(from, 1);
    state.order.splice(to, 0, frame);
    state.current = to;
    paint();
    announcement.textContent = `position ${to + 1} of ${state.order.length}: ${data.frames[frame].alt}`;
  };

  paint();
  root.onkeydown = root.onpointerdown = null; // handlers of a strip that is no longer movable
  if (!strip) return;
  root.onkeydown = (event) => {
    if (!own().contains(event.target) || event.altKey || event.ctrlKey || event.metaKey) return;
    const last = state.order.length - 1;
    const to = { ArrowLeft: state.current - 1, ArrowRight: state.current + 1, Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    if (to < 0 || to > last) return;
    if (event.shiftKey) {
      move(state.current, to);
      report();
    } else {
      state.current = to;
      paint();
    }
  };
  root.onpointerdown = (event) => {
    const one = event.target.closest(".tile");
    if (!one || !own().contains(one) || event.button !== 0) return;
    event.preventDefault();
    const began = [...state.order];
    state.held = Number(one.dataset.frame);
    state.current = state.order.indexOf(state.held);
    paint();
    own().children[state.current].focus();
    const follow = (moved) => {
      const box = own().getBoundingClientRect();
      const wanted = Math.floor(((moved.clientX - box.left) / box.width) * state.order.length);
      const to = Math.max(0, Math.min(state.order.length - 1, wanted));
      if (to !== state.current) move(state.current, to);
    };
    const drop = () => {
      window.removeEventListener("pointermove", follow);
      window.removeEventListener("pointerup", drop);
      window.removeEventListener("pointercancel", drop);
      state.held = null;
      paint();
      if (began.some((frame, place) => frame !== state.order[place])) report();
    };
    window.addEventListener("pointermove", follow);
    window.addEventListener("pointerup", drop);
    window.addEventListener("pointercancel", drop);
  };
}
