// One question: what was asked, and what each method answered.
"use strict";
lmev2.question = (() => {
  const { el, mark, chip, select, picture, address, seconds, count, money, plural } = lmev2.dom;
  const { evidenceOf, stateRange } = lmev2.context;
  const { panel } = lmev2.panel;

  async function page(view, id, parameters) {
    const common = await lmev2.common();
    const question = common.questions[common.place.get(id)];
    if (!question)
      return view.replaceChildren(
        el("h1", {}, "No such question"),
        el("p", {}, `There is no question ${id}.`),
      );
    const tier = common.tiers.includes(parameters.get("tier")) ? parameters.get("tier") : common.tiers[0];
    const place = common.place.get(id);
    const arms = common.methods.filter((method) => common.matrix[method.arm]?.[tier]);
    const wanted = parameters.get("methods");
    const open = (
      wanted === null ? (lmev2.lastMethods ?? firstMethods(arms, common, tier, place)) : wanted.split(",")
    ).filter((arm) => arms.some((method) => method.arm === arm));
    const repeats = Math.max(1, ...arms.map((method) => common.matrix[method.arm][tier].codes.length));
    const repeat = Math.min(repeats - 1, Number(parameters.get("repeat") ?? 0) || 0);
    const state = { id, tier, open, repeat };
    const go = (changes) => {
      Object.assign(state, changes);
      lmev2.lastMethods = state.open;
      return address(["question", state.id], {
        tier: state.tier,
        methods: state.open.join(","),
        repeat: state.repeat || null,
      });
    };
    history.replaceState(null, "", go({}));
    const panels = el("div.panels");
    const answers = el("section", { "aria-labelledby": "h-answers" });
    view.replaceChildren(
      head(question, common, go, state, repeats),
      about(question, common, tier),
      answers,
      panels,
    );
    await Promise.all([
      drawAnswers(answers, arms, common, question, state, go, panels),
      drawPanels(panels, common, question, state, go),
    ]);
  }

  // Without a choice: the best method, so that there is something to look at.
  function firstMethods(arms, common, tier, place) {
    const usual = arms.filter((method) => !method.pilot && !method.ablation);
    const rate = (method) =>
      [...common.matrix[method.arm][tier].codes[0]].filter((sign) => sign === "1").length;
    const best = [...usual].sort((one, other) => rate(other) - rate(one))[0];
    return best ? [best.arm] : [];
  }

  function neighbours(common, id) {
    const numbers = lmev2.list?.numbers?.length
      ? lmev2.list.numbers
      : common.questions.map((_, number) => number);
    const at = numbers.indexOf(common.place.get(id));
    const of = (number) => (number === undefined ? null : common.questions[number].id);
    return { before: of(numbers[at - 1]), after: of(numbers[at + 1]), at, total: numbers.length };
  }

  function head(question, common, go, state, repeats) {
    const { before, after, at, total } = neighbours(common, question.id);
    // Without methods in the address the next question shows those of this one.
    const link = (id, text, rel) =>
      id
        ? el(
            "a.button",
            { href: address(["question", id], { tier: state.tier, repeat: state.repeat || null }), rel },
            text,
          )
        : el("span.button.off", {}, text);
    const back = address(["answers"], lmev2.list ? { ...lmev2.list.state, tier: lmev2.list.state.tier } : {});
    return el(
      "div.crumbs",
      {},
      el("a", { href: back, id: "up" }, "Answers"),
      el("span.muted", {}, at >= 0 ? `question ${at + 1} of ${total}` : "question"),
      el("span.spring"),
      select(
        "Tier",
        state.tier,
        common.tiers.map((tier) => [tier, tier]),
        (tier) => (location.hash = go({ tier })),
      ),
      repeats > 1 &&
        select(
          "Repeat",
          String(state.repeat),
          Array.from({ length: repeats }, (_, number) => [String(number), String(number + 1)]),
          (value) => (location.hash = go({ repeat: Number(value) })),
        ),
      link(before, "← k", "prev"),
      link(after, "j →", "next"),
    );
  }

  function about(question, common, tier) {
    const evidence = evidenceOf(question);
    const image = question.image && { small: question.image, full: question.image };
    return el(
      "section.question",
      { "aria-labelledby": "h-question" },
      el(
        "div.question-text",
        {},
        el(
          "p.chips",
          {},
          chip(question.id, "id"),
          chip(question.domain),
          chip(question.environment),
          chip(question.ability),
          question.abstention && chip("abstention", "warn", "its premise is wrong: the answer is to say so"),
          chip(question.evaluator, "", question.eval_function),
        ),
        el("h1.asked", { id: "h-question" }, question.text),
        el("div.gold-answer", {}, el("h2", {}, "Gold answer"), el("p", {}, question.answer)),
        el(
          "p.small.muted",
          {},
          el("a", { href: address(["haystack", question.id], { tier }), id: "haystack" }, "Haystack"),
          evidence.size
            ? ` holds ${plural(evidence.size, "answer trajectory").replace("trajectorys", "trajectories")}: `
            : ": no evidence labels.",
          [...evidence].map(([id, states], number) => [
            number ? ", " : "",
            el(
              "a",
              {
                href: address(["trajectory", id], {
                  question: question.id,
                  state: Math.min(...states),
                  tier,
                }),
              },
              `${id} (${stateRange(Math.min(...states), Math.max(...states))})`,
            ),
          ]),
          evidence.size > 0 && ".",
          question.anchor && [
            " Made from ",
            el("a", { href: address(["question", question.anchor], { tier }) }, question.anchor),
            ".",
          ],
        ),
      ),
      image &&
        el(
          "figure.question-image",
          {},
          picture(image, "The question's image"),
          el("figcaption", {}, "The question's image"),
        ),
    );
  }

  async function drawAnswers(section, arms, common, question, state, go, panels) {
    const place = common.place.get(question.id);
    // Places are known of the first repeat.
    const hasRanks = question.evidence.length > 0 && state.repeat === 0;
    const body = el("tbody");
    const head = [
      "",
      "method",
      "answer",
      "query",
      "tokens",
      "cost",
      ...(hasRanks ? ["1st trajectory", "1st state"] : []),
    ];
    const titles = {
      "1st trajectory": "place in the context of the first piece from an answer trajectory",
      "1st state": "place of the first piece that shows an evidence state",
    };
    const asked = arms.filter(
      (method) => (common.matrix[method.arm][state.tier].codes[state.repeat]?.[place] ?? "-") !== "-",
    );
    const rows = asked.map((method) => {
      const cell = common.matrix[method.arm][state.tier];
      const sign = cell.codes[state.repeat][place];
      const box = el("input", {
        type: "checkbox",
        checked: state.open.includes(method.arm),
        "aria-label": `Show ${method.label}`,
        onchange: async (event) => {
          const rest = state.open.filter((arm) => arm !== method.arm);
          history.replaceState(null, "", go({ open: event.target.checked ? [...rest, method.arm] : rest }));
          await drawPanels(panels, common, question, state, go);
        },
      });
      const prediction = el("td.prediction");
      const [latency, tokens, cost] = [el("td.number"), el("td.number"), el("td.number")];
      const rank = (value) => el("td.number", {}, value === null ? "–" : String(value));
      const ranks = hasRanks ? [rank(cell.trajectory[place]), rank(cell.state[place])] : [];
      const toggle = (event) => {
        if (!event.target.closest("input, label, a")) box.click();
      };
      return {
        method,
        fill: (brief) => {
          prediction.textContent =
            brief.prediction || (brief.status === "ok" ? "–" : brief.status.replaceAll("_", " "));
          prediction.title = brief.prediction;
          latency.textContent = seconds(brief.latency_s);
          tokens.textContent = count(brief.tokens) + (brief.truncated ? " ✂" : "");
          cost.textContent = money(brief.cost);
        },
        node: el(
          `tr${method.ablation ? ".ablation" : ""}`,
          { onclick: toggle },
          el("td", {}, el("label.box", {}, box)),
          el("th", { scope: "row" }, mark(sign), " ", method.label),
          prediction,
          latency,
          tokens,
          cost,
          ranks,
        ),
      };
    });
    body.append(...rows.map(({ node }) => node));
    section.replaceChildren(
      el("h2", { id: "h-answers" }, "Answers"),
      el(
        "div.scroll",
        { tabIndex: 0, role: "region", "aria-label": "Answers of all methods" },
        el(
          "table.answers",
          {},
          el(
            "thead",
            {},
            el(
              "tr",
              {},
              head.map((text, number) =>
                el(
                  number > 2 ? "th.number" : "th",
                  { scope: "col", title: titles[text] },
                  text || el("span.visually-hidden", {}, "show"),
                ),
              ),
            ),
          ),
          body,
        ),
      ),
    );
    await Promise.all(
      rows.map(async ({ method, fill }) => {
        const brief = (await lmev2.briefs(method.arm, state.tier)).get(`${question.id} ${state.repeat}`);
        if (brief) fill(brief);
      }),
    );
  }

  async function drawPanels(panels, common, question, state, go) {
    const key = `${question.id} ${state.repeat}`;
    const wanted = state.open.join(" ") + key;
    panels.dataset.wanted = wanted;
    const made = await Promise.all(
      state.open.map(async (arm) => {
        const method = common.method.get(arm);
        const answer = await lmev2.answer(arm, state.tier, key);
        return answer && panel(method, answer, question, common, state);
      }),
    );
    if (panels.dataset.wanted !== wanted) return; // another choice was made meanwhile
    panels.classList.toggle("several", made.filter(Boolean).length > 1);
    panels.replaceChildren(...made.filter(Boolean));
  }

  // j and k: the next question of the list.
  function step(by) {
    document.querySelector(by > 0 ? "a[rel=next]" : "a[rel=prev]")?.click();
  }

  return { page, step };
})();
