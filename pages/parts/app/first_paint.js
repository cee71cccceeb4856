// The page is hidden (frame.css) until its script has ended and no element moves any more.
(() => {
  const QUIET = 200; // milliseconds
  const PATIENCE = 10000; // milliseconds after which the page is shown in any case
  const begun = performance.now();
  let places = null;
  let since = begun;

  function look() {
    const now = performance.now();
    const page = document.querySelector(".stMainBlockContainer");
    const ended =
      document.querySelector("[data-testid=stApp]")?.dataset.testScriptState === "notRunning" &&
      page.querySelector(".menu-button") &&
      !page.querySelector("[data-testid=stSkeleton]") &&
      document.fonts.status === "loaded";
    const parts = ended ? [...page.querySelectorAll(".stElementContainer")] : [];
    const seen = parts.map((part) => Object.values(part.getBoundingClientRect().toJSON())).join();
    if (!ended || seen !== places) since = now;
    places = seen;
    if (now - since > QUIET || now - begun > PATIENCE) document.documentElement.dataset.whole = "";
    else requestAnimationFrame(look);
  }

  requestAnimationFrame(look);
})();
