// The page is hidden (frame.css) until its script has ended and no element moves any more, but for two seconds at most:
// then the page is shown although its elements may still move.
(() => {
  const QUIET = 200; // milliseconds
  const PATIENCE = 2000; // milliseconds
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
    if (now - since > QUIET) document.documentElement.dataset.whole = "still";
    else if (now - begun > PATIENCE) document.documentElement.dataset.whole = "late";
    else requestAnimationFrame(look);
  }

  requestAnimationFrame(look);
})();
