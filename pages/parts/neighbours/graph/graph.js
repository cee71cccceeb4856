// Connected components, each an SVG; all their nodes are the options of one listbox. One node is in the tab order.
// Left and Right move from node to node, Up and Down from component to component, Home and End to the first and the
// last node; a click, Enter or Space selects, Escape clears the selection. All text is set as text.
//
// data: { token, label, selection: [number, id, ids],
//         drawings: [{ title, note, width, height, side,
//                      nodes: [{ id, src, alt, caption, glyph, colour, dashed, x, y }],
//                      ties: [{ first, second, width, cut }] }] }
// Everything is redrawn when `token` changes; `selection` is applied when its number is new.

const BADGE = 10;

function svg(kind, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", kind);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function dashes(dashed, width) {
  return dashed ? { "stroke-dasharray": `${Math.max(6, 1.6 * width)} ${Math.max(5, 1.3 * width)}` } : {};
}

function line(tie, nodes) {
  const [one, other] = [nodes[tie.first], nodes[tie.second]];
  const ends = { x1: one.x, y1: one.y, x2: other.x, y2: other.y };
  return svg("line", { class: "tie", ...ends, "stroke-width": tie.width, ...dashes(tie.cut, tie.width) });
}

function option(node, side) {
  const [left, top] = [node.x - side / 2, node.y - side / 2];
  const box = { x: left, y: top, width: side, height: side };
  const [right, up] = [left + side - BADGE + 1, top + BADGE - 1];
  const frame = { class: "frame", ...box, rx: 6, stroke: node.colour, ...dashes(node.dashed, 4) };
  const made = svg(
    "g",
    { class: "node", role: "option", tabindex: -1, "aria-label": node.alt },
    svg("title", {}, node.alt),
    svg("rect", { class: "ring", x: left - 6, y: top - 6, width: side + 12, height: side + 12, rx: 11 }),
    svg("rect", { class: "ground", ...box, rx: 6 }),
    svg("image", { ...box, href: node.src }),
    svg("rect", frame),
    svg("circle", { cx: right, cy: up, r: BADGE, fill: node.colour }),
    svg("text", { class: "glyph", x: right, y: up + 5, "text-anchor": "middle" }, node.glyph),
    svg("text", { class: "caption", x: node.x, y: top + side + 17, "text-anchor": "middle" }, node.caption),
  );
  made.dataset.id = node.id;
  return made;
}

function card(drawing) {
  const made = document.createElement("section");
  made.className = "component";
  made.setAttribute("role", "group");
  made.setAttribute("aria-label", `${drawing.title}, ${drawing.note}`);
  made.style.setProperty("--width", drawing.width);
  for (const part of ["title", "note"]) {
    const text = document.createElement("div");
    text.className = part;
    text.textContent = drawing[part];
    made.append(text);
  }
  const { width, height, side, nodes, ties } = drawing;
  made.append(
    svg(
      "svg",
      { viewBox: `0 0 ${width} ${height}`, role: "presentation" },
      ...ties.map((tie) => line(tie, nodes)),
      ...nodes.map((node) => option(node, side)),
    ),
  );
  return made;
}

export default function ({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".graph");
  const state = (root.state ??= { received: 0, current: 0, clicks: 0, selected: null });
  const options = () => [...root.querySelectorAll(".node")];

  const focusable = (index) => {
    const all = options();
    if (!all.length) return;
    all[state.current]?.setAttribute("tabindex", "-1");
    state.current = Math.max(0, Math.min(all.length - 1, index));
    all[state.current].setAttribute("tabindex", "0");
  };
  const showSelected = () => {
    for (const one of options()) one.setAttribute("aria-selected", String(one.dataset.id === state.selected));
  };

  root.setAttribute("aria-label", data.label);
  if (state.token !== data.token) {
    const focused = root.getRootNode().activeElement?.dataset?.id;
    state.token = data.token;
    state.received = 0;
    root.replaceChildren(...data.drawings.map(card));
    focusable(0);
    const again = options().findIndex((one) => one.dataset.id === focused);
    if (again !== -1) {
      focusable(again);
      options()[again].focus();
    }
  }
  const [number, id] = data.selection;
  if (state.received !== number) {
    state.received = number;
    state.selected = id;
    const index = options().findIndex((one) => one.dataset.id === id);
    if (index !== -1) focusable(index);
    showSelected();
  }

  const select = (id) => {
    state.selected = id;
    showSelected();
    state.clicks += 1;
    setStateValue("selected", { id, ids: id === null ? [] : [id], click: `${Date.now()}-${state.clicks}` });
  };
  root.onclick = (event) => {
    const node = event.target.closest(".node");
    if (!node) return;
    focusable(options().indexOf(node));
    select(node.dataset.id);
  };
  root.onkeydown = (event) => {
    const all = options();
    if (!all.length || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "Enter" || event.key === " " || event.key === "Escape") {
      event.preventDefault();
      select(event.key === "Escape" ? null : all[state.current].dataset.id);
      return;
    }
    const firsts = all.filter((one) => one === one.closest(".component").querySelector(".node"));
    const own = firsts.indexOf(all[state.current].closest(".component").querySelector(".node"));
    const target = {
      ArrowRight: () => state.current + 1,
      ArrowLeft: () => state.current - 1,
      ArrowDown: () => all.indexOf(firsts[own + 1]),
      ArrowUp: () => all.indexOf(firsts[own - 1]),
      Home: () => 0,
      End: () => all.length - 1,
    }[event.key]?.();
    if (target === undefined) return;
    event.preventDefault();
    if (target < 0 || target >= all.length) return;
    focusable(target);
    all[target].focus();
  };
}
