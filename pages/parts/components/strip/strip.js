// A strip of ranked pictures, to be looked at. Texts come from files that are not trusted: they are set as text.
//
// data: { items: [{ id, src, alt, left, right, mark, glyph, flag, below, bracket, joined }], label, columns, narrow,
// chosen }. A tile keeps its element while its id stays, so that it can glide to its new place.

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
  tile.dataset.flagged = String(item.flag !== "");
  tile.classList.toggle("last", item.below !== "");
  const picture = tile.querySelector("img") ?? document.createElement("img");
  if (picture.getAttribute("src") !== item.src) picture.src = item.src;
  picture.alt = item.alt;
  const parts = [picture, part("place", item.left), part("value", item.right)];
  if (item.mark) parts.push(part("glyph", item.glyph));
  if (item.flag) parts.push(part("flag", item.flag));
  if (item.below) parts.push(part("below", item.below));
  if (item.bracket) parts.push(part(item.joined ? "bracket joined" : "bracket", item.bracket));
  parts.slice(1).forEach((element) => element.setAttribute("aria-hidden", "true")); // the picture's alt says it
  tile.replaceChildren(...parts);
}

function glide(tiles, before) {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  for (const tile of tiles) {
    const old = before.get(tile.dataset.id);
    if (!old) continue;
    const [across, down] = [old[0] - tile.offsetLeft, old[1] - tile.offsetTop];
    if (across || down) {
      const start = { transform: `translate(${across}px, ${down}px)` };
      tile.animate([start, { transform: "none" }], { duration: MILLISECONDS, easing: "ease-out" });
    }
  }
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".strip");
  root.setAttribute("aria-label", data.label);
  root.style.setProperty("--columns", data.columns);
  root.style.setProperty("--narrow", data.narrow);
  const known = new Map([...root.children].map((tile) => [tile.dataset.id, tile]));
  const before = new Map([...known].map(([id, tile]) => [id, [tile.offsetLeft, tile.offsetTop]]));
  const tiles = data.items.map((item) => {
    const tile = known.get(item.id) ?? document.createElement("div");
    tile.className = "tile";
    tile.dataset.id = item.id;
    tile.setAttribute("role", "listitem");
    fill(tile, item, data.chosen);
    return tile;
  });
  root.replaceChildren(...tiles);
  glide(tiles, before);
}
