// Draws a line after a tile of a grid that is already on the page. data: { channel, id, label }

export default function ({ data }) {
  (document.rankingLines ??= {})[data.channel] = data;
  document.dispatchEvent(new CustomEvent("ranking-line", { detail: data.channel }));
}
