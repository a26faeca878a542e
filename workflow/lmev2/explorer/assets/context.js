// Contexts: items put together again from their pieces, with what the labels say of them.
"use strict";
lmev2.context = (() => {
  const { el, chip, fold, picture, highlighted, block, address, count, plural } = lmev2.dom;

  // question -> trajectory -> set of evidence states
  function evidenceOf(question) {
    const found = new Map();
    for (const [, trajectories] of question.evidence) {
      for (const [id, states] of trajectories) {
        const known = found.get(id) ?? new Set();
        states.forEach((state) => known.add(state));
        found.set(id, known);
      }
    }
    return found;
  }

  function holds(item, evidence) {
    const states = evidence.get(item.trajectory);
    if (!states) return "";
    if (item.first !== undefined) {
      for (let state = item.first; state <= item.last; state += 1) if (states.has(state)) return "state";
    }
    return "trajectory";
  }

  const badge = (level) =>
    level === "state"
      ? chip("★ evidence state", "gold", "shows a state that holds the evidence")
      : level === "trajectory"
        ? chip("☆ answer trajectory", "gold-faint", "of a trajectory that holds the evidence elsewhere")
        : null;

  const stateRange = (first, last) =>
    first === undefined || first === null
      ? ""
      : first === last
        ? `state ${first}`
        : `states ${first}–${last}`;

  // A text with the pictures that follow it is one piece, as the places of the first evidence count them.
  function grouped(items) {
    const groups = [];
    for (const item of items) {
      const last = groups.at(-1);
      if (
        "image" in item &&
        last &&
        last.text.trajectory === item.trajectory &&
        last.text.source === item.source
      )
        last.images.push(item);
      else groups.push({ text: item, images: "image" in item ? [item] : [] });
    }
    return groups;
  }

  // The whole text of an item.
  async function plainText(item) {
    if (!item.text) return "";
    const whole = item.text.every((piece) => typeof piece === "string")
      ? null
      : await lmev2.trajectory(item.trajectory);
    return item.text
      .map((piece) =>
        typeof piece === "string"
          ? piece
          : piece[0] === "actions"
            ? whole.actions
            : whole.states[piece[0]].tree,
      )
      .join("");
  }

  const firstLine = (item) =>
    typeof item.text?.[0] === "string" ? item.text[0].split("\n")[0].slice(0, 90) : "";

  function render(item, phrases) {
    return item.text.map((piece) => {
      if (typeof piece === "string") return block(piece.replace(/^\n|\n$/g, ""), phrases);
      const title = piece[0] === "actions" ? "actions of the whole run" : `tree of state ${piece[0]}`;
      return fold(title, async () => {
        const whole = await lmev2.trajectory(item.trajectory);
        const text = piece[0] === "actions" ? whole.actions : whole.states[piece[0]].tree;
        return el("pre.text.tree", { tabIndex: 0 }, highlighted(text, phrases));
      });
    });
  }

  // The context of an answer as a list of pieces.
  function list(items, question, common, tier) {
    const evidence = evidenceOf(question);
    const groups = grouped(items);
    let place = 0;
    const nodes = groups.map((group) => {
      const { text: item, images } = group;
      const isHeading =
        item.text &&
        !item.trajectory &&
        item.text.length === 1 &&
        typeof item.text[0] === "string" &&
        item.text[0].length < 80;
      if (isHeading) return el("li.heading", {}, item.text[0]);
      const level = holds(item, evidence);
      if (item.text && item.trajectory) place += 1;
      const here = place;
      const known = item.trajectory && common.trajectory.get(item.trajectory);
      const goal = known
        ? known.goal
        : item.trajectory
          ? `trajectory ${item.trajectory}`
          : firstLine(item) || item.source || "text";
      const title = el(
        "span.piece-title",
        {},
        item.trajectory && item.text ? el("span.place", { title: "place among the pieces" }, here) : null,
        chip(item.source || "text", "source"),
        el("span.goal", {}, goal),
        el("span.muted", {}, stateRange(item.first, item.last)),
        badge(level),
        item.cut ? chip("cut off", "warn", "beyond the reader's budget: it never saw this") : null,
      );
      const card = fold(
        title,
        () => [
          item.trajectory &&
            el(
              "p.small",
              {},
              el(
                "a",
                {
                  href: address(["trajectory", item.trajectory], {
                    state: item.first,
                    question: question.id,
                    tier,
                  }),
                },
                `Open trajectory ${item.trajectory}`,
              ),
            ),
          item.text && render(item, question.phrases),
        ],
        false,
        "piece",
      );
      const strip = images.length ? el("div.strip") : null;
      if (strip)
        fillStrip(strip, images, item.trajectory).catch((error) =>
          strip.append(el("p.fault", {}, String(error.message))),
        );
      return el(`li${level && `.${level}`}${item.cut ? ".cut" : ""}`, {}, card, strip);
    });
    if (!nodes.length) return el("p.muted", {}, "The context is empty.");
    return el("ol.pieces", {}, nodes);
  }

  async function fillStrip(strip, images, trajectory) {
    const needed = images.some((item) => typeof item.image === "number");
    const whole = needed ? await lmev2.trajectory(trajectory) : null;
    for (const item of images) {
      const isState = typeof item.image === "number";
      const shot = isState ? whole.states[item.image].screenshot : null;
      const name = isState ? `Screenshot of state ${item.image}` : `Picture ${item.image}`;
      strip.append(
        el(
          "figure",
          {},
          picture(shot, name),
          el("figcaption", {}, isState ? `state ${item.image}` : "picture"),
        ),
      );
    }
  }

  const size = (answer) =>
    `${plural(answer.read.context_items ?? 0, "item")}, ${count(answer.read.context_tokens_kept)} tokens`;

  return { evidenceOf, holds, badge, list, plainText, size, stateRange };
})();
