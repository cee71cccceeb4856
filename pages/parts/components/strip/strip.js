// A strip of ranked thumbnails. tile.js is included before this file.
//
// data: { items, label, columns, narrow, chosen, ratio }. A tile keeps its element while its id is shown, so that it can move to
// its new position.

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".strip");
  root.setAttribute("aria-label", data.label);
  root.style.setProperty("--columns", data.columns);
  root.style.setProperty("--narrow", data.narrow);
  root.style.setProperty("--tile-ratio", data.ratio);
  const known = new Map([...root.children].map((tile) => [tile.dataset.id, tile]));
  const before = placesOf(root);
  const tiles = data.items.map((item) => {
    const tile = known.get(item.id) ?? blank(item.id);
    fill(tile, item, data.chosen);
    return tile;
  });
  root.replaceChildren(...tiles);
  glide(tiles, before);
}
