// The look, before the first paint: the chosen one, or the system's own as long as none is chosen.
"use strict";
(() => {
  const key = "lmev2-theme";
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  try {
    chosen = localStorage.getItem(key);
  } catch {
    // Some browsers keep nothing for pages from disk.
  }
  const show = () => {
    root.dataset.theme = chosen || (system.matches ? "dark" : "light");
  };
  show();
  system.addEventListener("change", show);
  window.toggleTheme = () => {
    chosen = root.dataset.theme === "dark" ? "light" : "dark";
    show();
    try {
      localStorage.setItem(key, chosen);
    } catch {
      // It then lasts as long as the page.
    }
  };
})();
