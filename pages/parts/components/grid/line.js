// Draws a line after one tile of a grid that is on the page already. data: { channel, id, label }

export default function ({ data }) {
  (document.rankingLines ??= {})[data.channel] = data;
  document.dispatchEvent(new CustomEvent("ranking-line", { detail: data.channel }));
}
