// A button that copies the address of a room.
//
// data: { room }. Browsers have no clipboard for pages that came without encryption from another machine, as those of
// a server in a class room do: there the address is selected in a field and copied as a person would.

const SECONDS = 2;

async function copy(text, button) {
  if (navigator.clipboard && window.isSecureContext) return navigator.clipboard.writeText(text);
  const field = document.createElement("textarea");
  field.value = text;
  button.after(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  button.focus();
  if (!done) throw new Error("the browser refused");
}

export default function ({ parentElement, data }) {
  const button = parentElement.querySelector("button");
  button.onclick = async () => {
    const address = new URL(window.location.href);
    address.search = `?room=${encodeURIComponent(data.room)}`;
    address.hash = "";
    const before = "Copy the address";
    try {
      await copy(address.href, button);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Not copied: take it from the address bar";
    }
    setTimeout(() => (button.textContent = before), SECONDS * 1000);
  };
}
