// Rankings as rows of thumbnails, and lines that connect samples from row to row. One tile is in the tab order. Left,
// Right, Home and End move the focus within a row, Up and Down to another row; a click, Enter or Space selects. The
// sample under the pointer or the focus has a line too. Texts come from untrusted files: they are set as text.
//
// data: { token, label, rows: [{ title, notes, colour, dash, flagged, tiles: [item] }], beyond: [item | null], all,
//         selection: [number, id] }
// item: { id, src, alt, left, mark, glyph }. The tiles are rebuilt when `token` changes; `selection` is applied when its
// number is new, so that no late response undoes a click.

const DASHES = { solid: "", dash: "9 6", dashdot: "9 5 2 5", dot: "2 5", longdash: "14 6" };
const AT_EDGE = 0.1; // columns beyond the last tile, where the lines of samples below the shown ranks end

function part(kind, name, text) {
  const made = document.createElement(kind);
  made.className = name;
  if (text !== undefined) made.textContent = text;
  return made;
}

function svg(kind, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", kind);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function tile(item, flagged) {
  const made = part("button", "tile");
  made.type = "button";
  made.tabIndex = -1;
  made.dataset.id = item.id;
  made.dataset.mark = item.mark;
  made.title = item.alt;
  made.setAttribute("role", "option");
  made.setAttribute("aria-label", flagged ? `${item.alt}, the first error` : item.alt);
  const shown = part("span", "shown");
  const img = document.createElement("img");
  img.alt = "";
  img.decoding = "async";
  img.src = item.src;
  shown.append(img);
  if (flagged) shown.append(part("span", "flag", `first ${item.glyph}`));
  made.append(shown, part("span", "glyph", item.glyph), part("span", "place", item.left));
  return made;
}

function head(row) {
  const made = part("div", "head");
  const lineStyle = svg("svg", { class: "line-style", viewBox: "0 0 40 6", "aria-hidden": "true" });
  lineStyle.append(svg("line", { x1: 0, y1: 3, x2: 40, y2: 3, stroke: row.colour, "stroke-dasharray": DASHES[row.dash] ?? "" }));
  const title = part("span", "title", row.title);
  made.append(title, lineStyle, ...row.notes.map((note) => part("span", "note", note)));
  return made;
}

function section(row) {
  const made = part("section", "row");
  const tiles = part("div", "tiles");
  tiles.setAttribute("role", "listbox");
  tiles.setAttribute("aria-label", [row.title, ...row.notes].join(", "));
  tiles.append(...row.tiles.map((item, place) => tile(item, place === row.flagged)));
  made.append(head(row), tiles);
  return made;
}

export default function ({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".rows");
  const state = (root.state ??= { token: null, received: 0, id: null, over: null, clicks: 0 });
  const rows = () => [...root.querySelectorAll(".tiles")];
  const count = data.rows[0].tiles.length;

  const focusable = (option) => {
    root.querySelector('.tile[tabindex="0"]')?.setAttribute("tabindex", "-1");
    option.tabIndex = 0;
  };
  /** The column of a sample in each row; null if its rank is not shown. */
  const columns = (id) =>
    data.rows.map(({ tiles }, number) => {
      const at = tiles.findIndex((item) => item.id === id);
      if (at >= 0) return at + 0.5;
      return data.beyond[number]?.id === id ? count + 0.5 : null;
    });
  const drawLines = () => {
    const every = new Map();
    for (const item of [...data.rows.flatMap((row) => row.tiles), ...data.beyond]) if (item) every.set(item.id, item.mark);
    const strong = [state.id, state.over].filter((id) => every.has(id));
    const others = data.all ? [...every.keys()].filter((id) => !strong.includes(id)) : [];
    const bands = [...root.querySelectorAll(".band")];
    bands.forEach((band) => band.replaceChildren());
    for (const id of [...others, ...strong]) {
      const at = columns(id);
      bands.forEach((band, number) => {
        const [from, to] = [at[number], at[number + 1]];
        if (from === null && to === null) return;
        const edge = count + AT_EDGE;
        const ends = { x1: from ?? edge, y1: from === null ? 0.5 : 0, x2: to ?? edge, y2: to === null ? 0.5 : 1 };
        band.append(svg("line", { class: strong.includes(id) ? "strong" : "", "data-mark": every.get(id), ...ends }));
      });
    }
  };
  const showSelected = () => {
    for (const one of root.querySelectorAll(".tile")) {
      one.setAttribute("aria-selected", String(one.dataset.id === state.id));
    }
    drawLines();
  };

  if (state.token !== data.token) {
    state.token = data.token;
    state.received = 0;
    state.over = null;
    root.style.setProperty("--columns", count + 1);
    root.style.setProperty("--count", data.rows.length);
    const made = data.rows.map(section);
    const band = () => svg("svg", { class: "band", viewBox: `0 0 ${count + 1} 1`, preserveAspectRatio: "none", "aria-hidden": "true" });
    root.replaceChildren(...made.flatMap((one, number) => (number ? [band(), one] : [one])));
    focusable(root.querySelector(".tile"));
  }
  root.setAttribute("aria-label", data.label);
  const held = root.getRootNode().activeElement?.closest?.(".beyond") != null;
  rows().forEach((tiles, number) => {
    const before = tiles.querySelector(".beyond");
    const item = data.beyond[number];
    if (before?.dataset.id === item?.id && before?.dataset.left === item?.left) return;
    before?.remove();
    if (!item) return;
    const made = tile(item, false);
    made.classList.add("beyond");
    made.dataset.left = item.left;
    tiles.append(made);
  });
  if (held || !root.querySelector('.tile[tabindex="0"]')) focusable(root.querySelector(".tile"));
  const [number, id] = data.selection;
  if (state.received !== number) {
    state.received = number;
    state.id = id;
  }
  showSelected();

  const select = (option) => {
    state.id = option.dataset.id;
    focusable(option);
    showSelected();
    state.clicks += 1;
    setStateValue("selected", { id: state.id, ids: [state.id], click: `${Date.now()}-${state.clicks}` });
  };
  const follow = (option) => {
    const over = option?.dataset.id ?? null;
    if (over === state.over) return;
    state.over = over;
    drawLines();
  };
  state.follow = follow; // replaced in each run, because the listeners below are added only once
  root.onclick = (event) => {
    const option = event.target.closest(".tile");
    if (option) select(option);
  };
  root.onpointerover = (event) => event.pointerType === "mouse" && follow(event.target.closest(".tile"));
  root.onpointerleave = () => follow(null);
  if (!state.listening) {
    state.listening = true;
    root.addEventListener("focusin", () => state.follow(root.querySelector(".tile:focus-visible")));
    root.addEventListener("focusout", () => state.follow(null));
  }
  root.onkeydown = (event) => {
    const option = event.target.closest(".tile");
    if (!option || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      select(option);
      return;
    }
    const lists = rows();
    const row = lists.indexOf(option.parentElement);
    const at = [...option.parentElement.children].indexOf(option);
    const target = {
      ArrowLeft: () => [row, at - 1],
      ArrowRight: () => [row, at + 1],
      ArrowUp: () => [row - 1, at],
      ArrowDown: () => [row + 1, at],
      Home: () => [row, 0],
      End: () => [row, lists[row].children.length - 1],
    }[event.key]?.();
    if (target === undefined) return;
    event.preventDefault();
    const siblings = lists[target[0]]?.children;
    const next = siblings?.[Math.min(target[1], siblings.length - 1)];
    if (!next) return;
    focusable(next);
    next.focus();
  };
}
