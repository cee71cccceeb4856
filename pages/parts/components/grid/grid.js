// A grid of thumbnails: a listbox whose options are tiles. One tile is in the tab order. Arrows, Home, End, Page Up
// and Page Down move the focus; a click, Enter or Space selects, with Ctrl it adds or removes a tile, with Shift it
// selects a range; Escape clears the selection. All text is set as text, never as markup.
//
// data: { channel, token, label, kind, several, selection: [number, id, ids],
//         items: [{ id, src, alt, left, right, mark, glyph, box, card, corrected }] }
// The tiles are rebuilt when `token` changes; `selection` is applied when its number is new, so that no late response
// undoes a click. line.js draws lines without sending the tiles again.

const PAUSE = 150; // milliseconds without another key after which a range selected by keys is reported

function element(kind, className, text) {
  const made = document.createElement(kind);
  made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function tile(item, index) {
  const option = element("button", "tile");
  option.type = "button";
  option.tabIndex = -1;
  option.dataset.index = index;
  option.setAttribute("role", "option");
  option.setAttribute("aria-label", item.alt);
  if (!item.card.length) option.title = item.alt;

  const shown = element("span", "shown");
  const img = document.createElement("img");
  img.loading = "lazy";
  img.decoding = "async";
  img.alt = "";
  img.src = item.src;
  shown.append(img);
  if (item.box) {
    const box = element("span", "box");
    ["left", "top", "width", "height"].forEach((side, i) => (box.style[side] = `${100 * item.box[i]}%`));
    shown.append(box);
  }
  if (item.corrected) shown.append(element("span", "corrected", `✎ ${item.corrected}`));
  option.append(shown);

  if (item.mark) {
    option.dataset.mark = item.mark;
    option.append(element("span", "glyph", item.glyph));
  }
  const caption = element("span", "caption");
  for (const side of ["left", "right"]) caption.append(element("span", side, item[side] ?? ""));
  option.append(caption);
  return option;
}

/** Mark a tile as the last one of a part: a label on it, and a line after it. */
function endWith(option, text) {
  option.classList.add("last");
  option.append(element("span", "below", text));
}

function columns(tiles) {
  const top = tiles[0].offsetTop;
  const next = tiles.findIndex((other) => other.offsetTop !== top);
  return next === -1 ? tiles.length : next;
}

/** The number of tiles that Page Down moves by: the complete rows in view. */
function page(root, tiles) {
  const across = columns(tiles);
  const below = tiles[across];
  if (!below) return tiles.length;
  return across * Math.max(1, Math.floor(root.clientHeight / (below.offsetTop - tiles[0].offsetTop)));
}

/** Scroll the grid, but not the page, until a tile is in view. */
function scrollIntoView(root, option) {
  const top = option.offsetTop - root.offsetTop;
  if (top < root.scrollTop || top + option.offsetHeight > root.scrollTop + root.clientHeight) {
    root.scrollTop = top - (root.clientHeight - option.offsetHeight) / 2;
  }
}

function showCard(card, item, option) {
  card.replaceChildren(
    ...item.card.flatMap(([name, value]) => [element("span", "name", name), element("span", "value", value)]),
  );
  card.dataset.mark = item.mark ?? "";
  card.hidden = false;
  const tile = option.getBoundingClientRect();
  const { width, height } = card.getBoundingClientRect();
  const left = Math.max(8, Math.min(innerWidth - width - 8, tile.left + tile.width / 2 - width / 2));
  const below = tile.bottom + 8; // the card covers neither its tile nor the elements above the grid
  card.style.left = `${left}px`;
  card.style.top = `${below + height + 8 <= innerHeight ? below : Math.max(8, tile.top - height - 8)}px`;
}

export default function ({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".grid");
  const card = parentElement.querySelector(".card");
  const state = (root.state ??= { items: [], received: 0, current: 0, anchor: null, ids: new Set(), clicks: 0 });
  const tiles = () => [...root.children];

  const focusable = (index) => {
    const all = tiles();
    if (!all.length) return;
    all[state.current]?.setAttribute("tabindex", "-1");
    state.current = Math.max(0, Math.min(all.length - 1, index));
    all[state.current].tabIndex = 0;
  };
  const showSelected = () => {
    tiles().forEach((option, index) => {
      option.setAttribute("aria-selected", String(state.ids.has(state.items[index].id)));
    });
  };
  const drawLine = () => {
    const line = document.rankingLines?.[state.channel];
    if (!line) return;
    tiles().forEach((option, index) => {
      option.querySelector(".below")?.remove();
      option.classList.remove("last");
      if (state.items[index].id === line.id) endWith(option, line.label);
    });
  };
  const hideCard = () => (card.hidden = true);
  const showCardOf = (option) => {
    const item = option && state.items[Number(option.dataset.index)];
    if (item?.card.length) showCard(card, item, option);
    else hideCard();
  };

  state.channel = data.channel;
  root.setAttribute("aria-label", data.label);
  root.setAttribute("aria-multiselectable", String(data.several));
  root.dataset.kind = data.kind;
  if (state.token !== data.token) {
    state.token = data.token;
    state.items = data.items;
    state.current = 0;
    state.anchor = null;
    root.replaceChildren(...data.items.map(tile));
    root.scrollTop = 0;
    state.received = 0;
    hideCard();
    focusable(0);
    drawLine();
  }
  const [number, current, ids] = data.selection;
  if (state.received !== number) {
    state.received = number;
    state.ids = new Set(ids);
    const index = state.items.findIndex((item) => item.id === current);
    state.anchor = index === -1 ? null : index;
    if (index !== -1) {
      focusable(index);
      scrollIntoView(root, root.children[index]);
    }
    showSelected();
  }
  /** Report the selected ids, and the id that is shown, to the server. wait: milliseconds, if more keys may follow. */
  const report = (id, wait = 0) => {
    showSelected();
    clearTimeout(state.timer);
    const send = () => {
      state.clicks += 1;
      const order = state.items.map((item) => item.id).filter((one) => state.ids.has(one));
      const elsewhere = [...state.ids].filter((one) => !order.includes(one));
      const stamp = `${Date.now()}-${state.clicks}`;
      setStateValue("selected", { id, ids: [...order, ...elsewhere], click: stamp });
    };
    if (wait) state.timer = setTimeout(send, wait);
    else send();
  };
  const only = (index) => {
    state.anchor = index;
    state.ids = new Set([state.items[index].id]);
    report(state.items[index].id);
  };
  const toggle = (index) => {
    const { id } = state.items[index];
    state.anchor = index;
    if (state.ids.delete(id)) report([...state.ids].at(-1) ?? null);
    else report((state.ids.add(id), id));
  };
  const range = (index, wait) => {
    state.anchor ??= state.current;
    const [first, last] = [state.anchor, index].sort((one, other) => one - other);
    state.ids = new Set(state.items.slice(first, last + 1).map((item) => item.id));
    report(state.items[index].id, wait);
  };
  const choose = (index, event) => {
    if (data.several && event.shiftKey) range(index);
    else if (data.several && (event.ctrlKey || event.metaKey)) toggle(index);
    else only(index);
    focusable(index);
  };

  root.onclick = (event) => {
    const option = event.target.closest(".tile");
    if (option) choose(Number(option.dataset.index), event);
  };
  root.onpointerover = (event) => event.pointerType === "mouse" && showCardOf(event.target.closest(".tile"));
  root.onpointerleave = hideCard;
  // Focusing a tile scrolls to it, so its card is shown afterwards, and is moved when the grid scrolls.
  const cardOfFocus = () => showCardOf(root.querySelector(".tile:focus-visible"));
  if (!state.listening) {
    state.listening = true;
    root.addEventListener("focusin", () => requestAnimationFrame(cardOfFocus));
    root.addEventListener("focusout", hideCard);
    const listen = ({ detail }) => {
      if (!root.isConnected) document.removeEventListener("ranking-line", listen);
      else if (detail === state.channel) drawLine();
    };
    document.addEventListener("ranking-line", listen);
  }
  root.onscroll = cardOfFocus;
  root.onkeydown = (event) => {
    const all = tiles();
    if (!all.length || event.altKey) return;
    const control = event.ctrlKey || event.metaKey;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      choose(state.current, event);
      return;
    }
    if (event.key === "Escape") {
      event.preventDefault();
      hideCard();
      state.ids = new Set();
      state.anchor = null;
      report(null);
      return;
    }
    if (data.several && control && event.key.toLowerCase() === "a") {
      event.preventDefault();
      state.ids = new Set(state.items.map((item) => item.id));
      report(state.items[state.current].id);
      return;
    }
    const target = {
      ArrowRight: () => state.current + 1,
      ArrowLeft: () => state.current - 1,
      ArrowDown: () => state.current + columns(all),
      ArrowUp: () => state.current - columns(all),
      Home: () => 0,
      End: () => all.length - 1,
      PageDown: () => Math.min(all.length - 1, state.current + page(root, all)),
      PageUp: () => Math.max(0, state.current - page(root, all)),
    }[event.key]?.();
    if (target === undefined || control) return;
    event.preventDefault();
    if (target < 0 || target >= all.length) return;
    if (data.several && event.shiftKey) range(target, PAUSE);
    focusable(target);
    all[target].focus();
  };
}
