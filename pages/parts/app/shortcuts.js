// Shortcuts of buttons: Streamlit would press a button again while its key is held, and would ignore keys as long as a
// switch or a slider has the focus, although these accept no text.
addEventListener(
  "keydown",
  (event) => {
    const [target] = event.composedPath();
    const wordless = target.matches?.("[type=checkbox], [type=radio], [type=range]");
    const typing = !wordless && target.matches?.("input, textarea, [contenteditable=true]");
    if (typing || !/^[a-z0-9]$/i.test(event.key)) return;
    if (event.repeat || wordless) event.stopImmediatePropagation();
    if (wordless && !event.repeat) document.body.dispatchEvent(new KeyboardEvent("keydown", event));
  },
  true,
);
