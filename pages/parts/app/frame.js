// The menu on a phone: a button that opens the row of links and headings below it. Wider screens show the row without
// the button (frame.css). The row belongs to the page; this component only opens and closes it.
//
// data: { page }: changing the page closes the menu.

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
