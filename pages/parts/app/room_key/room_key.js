// A button that copies the link to a workspace.
//
// data: { room }. Browsers have no clipboard for pages that another machine serves without encryption, such as a server
// in a classroom. There the link is selected in a text field and copied with the browser's copy command.

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
    const before = "Copy the link";
    try {
      await copy(address.href, button);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Not copied: use the address bar";
    }
    setTimeout(() => (button.textContent = before), SECONDS * 1000);
  };
}
