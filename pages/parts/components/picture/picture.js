// A whole image with its boxes. Labels come from untrusted files: they are set as text.
//
// data: { src, width, height, alt, boxes: [{ box: [left, top, right, bottom], label, colour, dashed, strong }] }

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".picture");
  root.style.setProperty("--ratio", data.width / data.height);
  root.setAttribute("aria-label", data.alt);

  const image = document.createElement("img");
  image.alt = "";
  image.src = data.src;
  image.dataset.tiny = String(Math.max(data.width, data.height) <= 80);

  const share = (value, whole) => `${(100 * value) / whole}%`;
  const boxes = data.boxes.map(({ box: [left, top, right, bottom], label, colour, dashed, strong }) => {
    const frame = document.createElement("div");
    frame.className = "box";
    frame.dataset.strong = String(strong);
    frame.style.left = share(left, data.width);
    frame.style.top = share(top, data.height);
    frame.style.width = share(right - left, data.width);
    frame.style.height = share(bottom - top, data.height);
    frame.style.setProperty("--colour", colour);
    frame.style.borderStyle = dashed ? "dashed" : "solid";
    const text = document.createElement("span");
    text.textContent = label;
    text.dataset.inside = String(top < data.height * 0.08);
    text.dataset.leftwards = String(left > data.width * 0.6);
    frame.append(text);
    return frame;
  });
  root.replaceChildren(image, ...boxes);
}
