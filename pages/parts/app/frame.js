// The menu on a phone: one button, which opens the row of links and headings that follows it. Wider screens show the row
// and no button (frame.css). The row is the page's own: here it is only said whether it is open.
//
// data: { page }: going to another page closes it.

export default function ({ parentElement, data }) {
  const button = parentElement.querySelector(".menu-button");
  const menu = parentElement.closest(".st-key-menu");

  function open(whether) {
    menu.toggleAttribute("data-open", whether);
    button.setAttribute("aria-expanded", String(whether));
  }

  function onKey(event) {
    if (event.key !== "Escape" || !menu.hasAttribute("data-open")) return;
    open(false);
    button.focus();
  }

  open(menu.hasAttribute("data-open") && menu.dataset.page === data.page);
  menu.dataset.page = data.page;
  button.onclick = () => open(!menu.hasAttribute("data-open"));
  menu.addEventListener("keydown", onKey);
  return () => menu.removeEventListener("keydown", onKey);
}
