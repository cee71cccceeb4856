// A grid of pictures: a listbox whose options are tiles. Arrows, Home and End move the focus (one tile is in
// the tab order), a click, Enter or Space selects. All text is set as text, never as markup.
//
// data: { token, items: [{ id, src, alt, left, right, mark, below }], told: [number, id], label, kind }. The tiles are
// rebuilt when `token` changes; the told selection is adopted where its number is new, so that no echo of an
// older state undoes a click.

const GLYPHS = { relevant: "✓", irrelevant: "✗" };

function tile(item, index) {
  const option = document.createElement("button");
  option.type = "button";
  option.className = "tile";
  option.tabIndex = -1;
  option.dataset.index = index;
  option.setAttribute("role", "option");
  option.setAttribute("aria-label", item.alt);
  option.title = item.alt;

  const picture = document.createElement("img");
  picture.loading = "lazy";
  picture.decoding = "async";
  picture.alt = "";
  picture.src = item.src;
  option.append(picture);

  if (item.mark) {
    option.dataset.mark = item.mark;
    const glyph = document.createElement("span");
    glyph.className = "glyph";
    glyph.textContent = GLYPHS[item.mark];
    option.append(glyph);
  }
  const caption = document.createElement("span");
  caption.className = "caption";
  for (const side of ["left", "right"]) {
    const text = document.createElement("span");
    text.className = side;
    text.textContent = item[side] ?? "";
    caption.append(text);
  }
  option.append(caption);
  if (item.below) {
    option.classList.add("last");
    const label = document.createElement("span");
    label.className = "below";
    label.textContent = item.below;
    option.append(label);
  }
  return option;
}

function columns(tiles) {
  const top = tiles[0].offsetTop;
  const next = tiles.findIndex((other) => other.offsetTop !== top);
  return next === -1 ? tiles.length : next;
}

export default function ({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".grid");
  const state = (root.state ??= { items: [], told: 0, current: 0, clicks: 0 });
  const tiles = () => [...root.children];

  const focusable = (index) => {
    const all = tiles();
    if (!all.length) return;
    all[state.current]?.setAttribute("tabindex", "-1");
    state.current = Math.max(0, Math.min(all.length - 1, index));
    all[state.current].tabIndex = 0;
  };
  const showSelected = (id) => {
    tiles().forEach((option, index) => {
      const chosen = state.items[index].id === id;
      option.setAttribute("aria-selected", String(chosen));
      if (chosen) focusable(index);
    });
  };

  root.setAttribute("aria-label", data.label);
  root.dataset.kind = data.kind;
  if (state.token !== data.token) {
    state.token = data.token;
    state.items = data.items;
    state.current = 0;
    root.replaceChildren(...data.items.map(tile));
    root.scrollTop = 0;
    state.told = 0;
    focusable(0);
  }
  const [number, selected] = data.told;
  if (state.told !== number) {
    state.told = number;
    showSelected(selected);
  }

  root.onclick = (event) => {
    const option = event.target.closest(".tile");
    if (!option) return;
    const { id } = state.items[Number(option.dataset.index)];
    showSelected(id);
    state.clicks += 1;
    setStateValue("selected", { id, click: `${Date.now()}-${state.clicks}` });
  };
  root.onkeydown = (event) => {
    const all = tiles();
    if (!all.length || event.altKey || event.ctrlKey || event.metaKey) return;
    const target = {
      ArrowRight: state.current + 1,
      ArrowLeft: state.current - 1,
      ArrowDown: state.current + columns(all),
      ArrowUp: state.current - columns(all),
      Home: 0,
      End: all.length - 1,
    }[event.key];
    if (target === undefined) return;
    event.preventDefault();
    if (target < 0 || target >= all.length) return;
    focusable(target);
    all[state.current].focus();
  };
}
