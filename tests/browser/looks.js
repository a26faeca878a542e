// What is wrong with the looks of a page: evaluated in it by the tests.
() => {
  const shown = (selector) =>
    [...document.querySelectorAll(selector)].filter((node) => node.checkVisibility());
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const colours = new Map();

  function channels(colour) {
    if (!colours.has(colour)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
      colours.set(colour, [...canvas.getImageData(0, 0, 1, 1).data]);
    }
    return colours.get(colour);
  }

  // Relative luminance as in WCAG 2.2.
  function luminance(colour) {
    return colour
      .slice(0, 3)
      .map((value) => value / 255)
      .map((value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
      .reduce((sum, value, at) => sum + value * [0.2126, 0.7152, 0.0722][at], 0);
  }

  function ground(node) {
    for (let at = node; at; at = at.parentElement) {
      const colour = channels(getComputedStyle(at).backgroundColor);
      if (colour[3] > 200) return colour;
    }
    return [255, 255, 255];
  }

  // Texts that are too close to their ground: below 4.5, large ones below 3.
  const faint = new Set();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const node = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || !node.checkVisibility()) continue;
    if (node.closest(".visually-hidden, .skip, option, svg")) continue;
    const style = getComputedStyle(node);
    const size = parseFloat(style.fontSize);
    const needed = size >= 24 || (size >= 18.66 && style.fontWeight >= 700) ? 3 : 4.5;
    const both = [luminance(channels(style.color)), luminance(ground(node))].sort(
      (one, other) => other - one,
    );
    const contrast = (both[0] + 0.05) / (both[1] + 0.05);
    if (contrast < needed)
      faint.add(`${contrast.toFixed(2)} ${node.className}: ${node.textContent.slice(0, 30)}`);
  }

  // What can be used and has no name.
  const unnamed = shown("button, a[href], input, select, img:not([alt])").filter((node) => {
    const label = node.getAttribute("aria-label") || node.labels?.length;
    return !(node.textContent.trim() || label || node.querySelector("img[alt]:not([alt=''])"));
  });

  const page = document.documentElement;
  return {
    faint: [...faint],
    unnamed: unnamed.map((node) => node.outerHTML.slice(0, 80)),
    headings: shown("h1, h2, h3, h4").map((node) => Number(node.tagName[1])),
    sideways: Math.max(0, page.scrollWidth - page.clientWidth),
  };
};
