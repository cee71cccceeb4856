// The menu on a phone: a button that opens the row of links and headings below it. Wider screens show the row without
// the button (frame.css). The row belongs to the page; this component only opens and closes it.
//
// data: { page }: changing the page closes the menu.
//
// The next step of a lesson begins at its headline, also where the button was at the foot of the step before.

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

  function onNext(event) {
    if (event.target.closest(".st-key-next-step")) document.querySelector("[data-testid=stMain]").scrollTo(0, 0);
  }

  open(menu.hasAttribute("data-open") && menu.dataset.page === data.page);
  menu.dataset.page = data.page;
  button.onclick = () => open(!menu.hasAttribute("data-open"));
  menu.addEventListener("keydown", onKey);
  document.addEventListener("click", onNext);
  return () => {
    menu.removeEventListener("keydown", onKey);
    document.removeEventListener("click", onNext);
  };
}
