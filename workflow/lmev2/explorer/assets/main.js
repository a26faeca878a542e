// Which page, and the keys.
"use strict";
(() => {
  const { el } = lmev2.dom;
  const [main, summary, view] = ["main", "summary", "view"].map((id) => document.getElementById(id));
  const base = document.title;
  let drawn = 0;
  let route = { page: "summary" };

  function parse() {
    const [path, query = ""] = location.hash.slice(2).split("?");
    const [page = "", ...rest] = path.split("/").map((part) => {
      try {
        return decodeURIComponent(part);
      } catch {
        return part;
      }
    });
    return { page: page || "summary", id: rest.join("/"), parameters: new URLSearchParams(query) };
  }

  const PAGES = {
    answers: ({ parameters }) => lmev2.matrix.page(view, parameters),
    question: ({ id, parameters }) => lmev2.question.page(view, id, parameters),
    haystack: ({ id, parameters }) => lmev2.trajectories.haystack(view, id, parameters),
    trajectory: ({ id, parameters }) => lmev2.trajectories.page(view, id, parameters),
    trajectories: () => lmev2.trajectories.all(view),
  };
  const SECTION = { question: "answers", haystack: "answers", trajectory: "trajectories" };

  async function draw(event) {
    if (location.hash && !location.hash.startsWith("#/")) return;
    const before = route;
    route = parse();
    if (!(route.page in PAGES)) route.page = "summary";
    const mine = (drawn += 1);
    const section = SECTION[route.page] ?? route.page;
    for (const link of document.querySelectorAll("nav a")) {
      if (link.dataset.page === section) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    summary.hidden = route.page !== "summary";
    view.hidden = !summary.hidden;
    main.dataset.page = route.page;
    document.documentElement.dataset.ready = "no";
    if (!view.hidden) {
      try {
        await PAGES[route.page](route);
      } catch (error) {
        view.replaceChildren(
          el("h1", {}, "This page cannot be shown"),
          el("p.fault", {}, String(error.message ?? error)),
        );
      }
    }
    if (mine !== drawn) return;
    const heading = (view.hidden ? summary : view).querySelector("h1")?.textContent ?? "";
    document.title = view.hidden ? base : `${heading.slice(0, 80)} · ${base}`;
    document.documentElement.dataset.ready = "yes";
    if (event && (before.page !== route.page || before.id !== route.id)) {
      window.scrollTo(0, 0);
      main.focus({ preventScroll: true });
    }
  }

  const isTyping = (target) => target.closest?.("input:not([type=checkbox]), select, textarea");
  const step = (by) => {
    if (route.page === "answers") lmev2.matrix.step(by);
    else if (route.page === "question") lmev2.question.step(by);
    else if (route.page === "trajectory") lmev2.showState?.(by);
  };
  const KEYS = {
    j: () => step(1),
    k: () => step(-1),
    ArrowRight: () => route.page === "trajectory" && lmev2.showState?.(1),
    ArrowLeft: () => route.page === "trajectory" && lmev2.showState?.(-1),
    "/": () => document.getElementById("search")?.focus(),
    u: () => document.getElementById("up")?.click(),
    h: () => document.getElementById("haystack")?.click(),
    t: () => toggleTheme(),
    "?": () => document.getElementById("keys").showModal(),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.key === "Escape" && isTyping(event.target)) return event.target.blur();
    if (isTyping(event.target) || document.querySelector("dialog[open]")) return;
    // Arrows scroll what has the focus and can scroll.
    if (event.key.startsWith("Arrow") && event.target.closest?.("pre, .scroll, .matrix")) return;
    if (event.key in KEYS) {
      KEYS[event.key]();
      if (event.key === "/" || event.key === "?" || event.key.startsWith("Arrow")) event.preventDefault();
    }
  });
  document.getElementById("theme").addEventListener("click", () => toggleTheme());
  document
    .getElementById("show-keys")
    .addEventListener("click", () => document.getElementById("keys").showModal());
  document.getElementById("skip").addEventListener("click", () => main.focus());
  for (const dialog of document.querySelectorAll("dialog")) {
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog || event.target.tagName === "IMG") dialog.close();
    });
  }
  window.addEventListener("hashchange", draw);
  draw();
})();
