// Small tools for building pages. All text goes in as text nodes: nothing from the data is ever read as HTML.
"use strict";
lmev2.dom = (() => {
  // An element: el("a.chip", {href: "#/"}, "text", child, …). Properties with a dash are attributes.
  function el(tag, properties = {}, ...children) {
    const [name, ...classes] = tag.split(".");
    const node = document.createElement(name);
    if (classes.length) node.className = classes.join(" ");
    for (const [key, value] of Object.entries(properties)) {
      if (value === undefined || value === null || value === false) continue;
      if (key === "dataset") Object.assign(node.dataset, value);
      else if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
      else if (key in node && !key.includes("-")) node[key] = value;
      else node.setAttribute(key, value === true ? "" : value);
    }
    node.append(
      ...children
        .flat(Infinity)
        .filter((child) => child !== null && child !== undefined && child !== false && child !== ""),
    );
    return node;
  }

  function svg(name, attributes, ...children) {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  }

  // -- what an answer's character in the matrix means -------------------------------------------------
  const ORDER = ["1", "0", "u", "e", "-"];
  const CODES = {
    1: { sign: "✓", name: "right", style: "right" },
    0: { sign: "✕", name: "wrong", style: "wrong" },
    u: { sign: "?", name: "unknown", style: "unknown" },
    e: { sign: "!", name: "error", style: "error" },
    "-": { sign: "·", name: "not asked", style: "none" },
  };

  function mark(code, long = false) {
    const { sign, name, style } = CODES[code];
    return el(
      `span.mark.${style}`,
      { title: name },
      el("span", { "aria-hidden": "true" }, sign),
      el(long ? "span" : "span.visually-hidden", {}, ` ${name}`),
    );
  }

  // -- numbers ----------------------------------------------------------------------------------------
  function seconds(value) {
    if (value === null || value === undefined) return "–";
    if (value === 0) return "0 s";
    if (value < 0.001) return `${Number((value * 1e6).toPrecision(2))} µs`;
    if (value < 1) return `${Number((value * 1000).toPrecision(value < 0.1 ? 2 : 3))} ms`;
    return `${value.toFixed(value < 10 ? 2 : 1)} s`;
  }
  const count = (value) => (value === null || value === undefined ? "–" : value.toLocaleString("en"));
  const share = (value) => (value === null ? "–" : value.toFixed(2).replace(/^0/, ""));
  const money = (value) => (value ? value.toPrecision(3) : "0");
  const plural = (number, word) => `${count(number)} ${word}${number === 1 ? "" : "s"}`;

  // -- parts of pages ---------------------------------------------------------------------------------
  const chip = (text, style = "", title = undefined) =>
    el(`span.chip${style && `.${style}`}`, { title }, text);

  function facts(pairs) {
    const rows = pairs.filter(([, value]) => value !== null && value !== undefined && value !== "");
    return el(
      "dl.facts",
      {},
      rows.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]),
    );
  }

  // A part that is built when it is opened first.
  function fold(title, build, open = false, level = "") {
    const body = el("div.fold-body");
    const node = el(`details.fold${level && `.${level}`}`, {}, el("summary", {}, title), body);
    let built = false;
    const fill = async () => {
      if (!node.open || built) return;
      built = true;
      try {
        body.append(...[await build()].flat(Infinity).filter(Boolean));
      } catch (error) {
        body.append(el("p.fault", {}, String(error.message ?? error)));
      }
    };
    node.addEventListener("toggle", fill);
    node.open = open;
    if (open) fill();
    return node;
  }

  function select(label, value, options, change) {
    const box = el("select", { onchange: (event) => change(event.target.value) });
    for (const [key, text] of options)
      box.append(el("option", { value: key, selected: key === value }, text));
    return el("label.field", {}, el("span", {}, label), box);
  }

  // A picture that opens large; says so where there is none.
  function picture(screenshot, alt, { large = false } = {}) {
    if (!screenshot)
      return el("span.no-picture", { role: "img", "aria-label": `${alt}: missing` }, "no screenshot");
    const image = el("img", {
      src: large ? (screenshot.full ?? screenshot.small) : screenshot.small,
      alt,
      loading: "lazy",
      decoding: "async",
      width: screenshot.width,
      height: screenshot.height,
    });
    const button = el("button.picture", { type: "button", "aria-label": `${alt}: enlarge` }, image);
    image.addEventListener("error", () =>
      button.replaceWith(
        el(
          "span.no-picture",
          { role: "img", "aria-label": `${alt}: cannot be shown` },
          "screenshot not found",
        ),
      ),
    );
    button.addEventListener("click", () => enlarge(screenshot.full ?? screenshot.small, alt));
    return button;
  }

  function enlarge(source, alt) {
    const dialog = document.getElementById("picture");
    const image = dialog.querySelector("img");
    image.src = source;
    image.alt = alt;
    dialog.showModal();
  }

  // The text with every occurrence of a phrase (in any case) in a <mark>.
  function highlighted(text, phrases) {
    const wanted = phrases.filter((phrase) => phrase.length > 1);
    if (!wanted.length) return [document.createTextNode(text)];
    const pattern = new RegExp(
      wanted.map((phrase) => phrase.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/\s+/g, "\\s+")).join("|"),
      "gi",
    );
    const nodes = [];
    let end = 0;
    for (const match of text.matchAll(pattern)) {
      if (!match[0]) continue;
      nodes.push(document.createTextNode(text.slice(end, match.index)), el("mark", {}, match[0]));
      end = match.index + match[0].length;
    }
    nodes.push(document.createTextNode(text.slice(end)));
    return nodes;
  }

  // Text as it is. What may need to scroll can be reached by keyboard.
  function block(text, phrases = []) {
    const long = text.length > 800 || text.split("\n").length > 20;
    return el("pre.text", { tabIndex: long ? 0 : undefined }, highlighted(text, phrases));
  }

  // A link within the explorer.
  function address(path, parameters = {}) {
    const query = new URLSearchParams(
      Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined && value !== ""),
    );
    const text = query.toString().replaceAll("%2C", ",").replaceAll("%40", "@");
    return `#/${path.map(encodeURIComponent).join("/")}${text && `?${text}`}`;
  }

  const say = (text) => {
    document.getElementById("status").textContent = text;
  };

  return {
    el,
    svg,
    CODES,
    ORDER,
    mark,
    seconds,
    count,
    share,
    money,
    plural,
    chip,
    facts,
    fold,
    select,
    picture,
    highlighted,
    block,
    address,
    say,
  };
})();
