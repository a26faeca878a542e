// The chosen look, before the first paint. Without a choice the system's own counts.
"use strict";
(() => {
  const key = "lmev2-theme";
  let kept = null;
  try {
    kept = localStorage.getItem(key);
  } catch {
    // Some browsers keep nothing for pages from disk.
  }
  if (kept) document.documentElement.dataset.theme = kept;
  window.toggleTheme = () => {
    const root = document.documentElement;
    const dark = root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    try {
      localStorage.setItem(key, root.dataset.theme);
    } catch {
      // It then lasts as long as the page.
    }
  };
})();
