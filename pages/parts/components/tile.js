// Tiles of strip and play_bar, and their animation. Texts come from untrusted files: they are set as text.
//
// An item is { id, src, alt, left, right, mark, glyph, flag, below, bracket, joined }.

const MILLISECONDS = 300;

function part(name, text) {
  const element = document.createElement("span");
  element.className = name;
  element.textContent = text;
  return element;
}

function fill(tile, item, chosen) {
  tile.dataset.mark = item.mark ?? "";
  tile.dataset.chosen = String(item.id === chosen);
  tile.dataset.flagged = String(Boolean(item.flag));
  tile.classList.toggle("last", Boolean(item.below));
  const img = tile.querySelector("img") ?? document.createElement("img");
  if (img.getAttribute("src") !== item.src) img.src = item.src;
  img.alt = item.alt;
  const parts = [img, part("place", item.left), part("value", item.right)];
  if (item.mark) parts.push(part("glyph", item.glyph));
  if (item.flag) parts.push(part("flag", item.flag));
  if (item.below) parts.push(part("below", item.below));
  if (item.bracket) parts.push(part(item.joined ? "bracket joined" : "bracket", item.bracket));
  parts.slice(1).forEach((element) => element.setAttribute("aria-hidden", "true")); // the image's alt text has the same information
  tile.replaceChildren(...parts);
}

/** An empty tile with that id. */
function blank(id) {
  const tile = document.createElement("div");
  tile.className = "tile";
  tile.dataset.id = id;
  tile.setAttribute("role", "listitem");
  return tile;
}

/** The positions of the tiles of a strip, by id. */
function placesOf(strip) {
  return new Map([...strip.children].map((tile) => [tile.dataset.id, [tile.offsetLeft, tile.offsetTop]]));
}

function glide(tiles, before) {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const moves = tiles.map((tile) => {
    const old = before.get(tile.dataset.id);
    return old ? [old[0] - tile.offsetLeft, old[1] - tile.offsetTop] : [0, 0];
  });
  tiles.forEach((tile, index) => {
    const [across, down] = moves[index];
    if (!across && !down) return;
    const start = { transform: `translate(${across}px, ${down}px)` };
    tile.animate([start, { transform: "none" }], { duration: MILLISECONDS, easing: "ease-out" });
  });
}
