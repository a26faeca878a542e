// Trajectories: one with its states, all of a haystack, all of the dataset.
"use strict";
lmev2.trajectories = (() => {
  const { el, chip, facts, picture, highlighted, address, count, plural, select } = lmev2.dom;
  const { evidenceOf } = lmev2.context;

  const outcome = (row) =>
    row.outcome === "success"
      ? chip("✓ success", "right")
      : row.outcome === "failure"
        ? chip("✕ failure", "wrong")
        : chip(row.outcome ?? "no outcome");

  async function page(view, id, parameters) {
    const common = await lmev2.common();
    const row = common.trajectory.get(id);
    if (!row)
      return view.replaceChildren(
        el("h1", {}, "No such trajectory"),
        el("p", {}, `There is no trajectory ${id}.`),
      );
    const whole = await lmev2.trajectory(id);
    const question = common.questions[common.place.get(parameters.get("question"))];
    const tier = parameters.get("tier");
    const evidence = question ? (evidenceOf(question).get(id) ?? new Set()) : new Set();
    const serves = common.questions.filter((other) => evidenceOf(other).has(id));
    const last = whole.states.length - 1;
    let at = Math.max(0, Math.min(last, Number(parameters.get("state") ?? 0) || 0));

    const film = el("ol.film", { "aria-label": "States" });
    const buttons = whole.states.map((state, number) => {
      const shot = state.screenshot;
      const button = el(
        `button.frame${evidence.has(number) ? ".evidence" : ""}`,
        {
          type: "button",
          onclick: () => show(number),
        },
        shot
          ? el("img", {
              src: shot.small,
              alt: "",
              loading: "lazy",
              decoding: "async",
              width: shot.width,
              height: shot.height,
            })
          : el("span.no-picture", {}, "no screenshot"),
        el(
          "span.frame-name",
          {},
          evidence.has(number) && ["★ ", el("span.visually-hidden", {}, "evidence, ")],
          el("span.visually-hidden", {}, "state "),
          number,
          " ",
          el("span.muted", {}, (state.action ?? "start").slice(0, 40)),
        ),
      );
      film.append(el("li", {}, button));
      return button;
    });
    const stage = el("div.stage", { "aria-live": "polite" });
    function show(number) {
      at = Math.max(0, Math.min(last, number));
      buttons.forEach((button, place) => button.setAttribute("aria-current", String(place === at)));
      const frame = buttons[at];
      film.scrollTo({ left: frame.offsetLeft - film.clientWidth / 2 + frame.clientWidth / 2 });
      history.replaceState(
        null,
        "",
        address(["trajectory", id], { state: at, question: question?.id, tier }),
      );
      stage.replaceChildren(...stateOf(whole, at, evidence, question));
    }
    view.replaceChildren(
      el(
        "div.crumbs",
        {},
        question
          ? [
              el(
                "a",
                { href: address(["question", question.id], { tier }), id: "up" },
                `Question ${question.id}`,
              ),
              el("a", { href: address(["haystack", question.id], { tier }) }, "Haystack"),
            ]
          : el("a", { href: "#/trajectories", id: "up" }, "Trajectories"),
        el("span.spring"),
        el("button.button", { type: "button", onclick: () => show(at - 1) }, "← k"),
        el("button.button", { type: "button", onclick: () => show(at + 1) }, "j →"),
      ),
      el(
        "header.page-head",
        {},
        el(
          "p.chips",
          {},
          chip(id, "id"),
          outcome(row),
          chip(row.domain),
          chip(row.environment),
          row.family && chip(row.family),
          chip(plural(row.n_states, "state")),
        ),
        el("h1.asked", {}, row.goal),
        question &&
          el(
            "p.small",
            {},
            evidence.size ? `★ ${plural(evidence.size, "state")} with evidence for: ` : "No evidence for: ",
            el("q", {}, question.text),
          ),
        serves.length > 0 &&
          el(
            "details.small",
            {},
            el("summary", {}, `Holds evidence for ${plural(serves.length, "question")}`),
            el(
              "ul",
              {},
              serves.map((other) =>
                el(
                  "li",
                  {},
                  el(
                    "a",
                    {
                      href: address(["trajectory", id], {
                        question: other.id,
                        state: Math.min(...evidenceOf(other).get(id)),
                      }),
                    },
                    other.id,
                  ),
                  " ",
                  other.text,
                ),
              ),
            ),
          ),
      ),
      film,
      stage,
    );
    lmev2.showState = (by) => show(at + by);
    show(at);
  }

  function stateOf(whole, number, evidence, question) {
    const state = whole.states[number];
    const next = whole.states[number + 1];
    const target = next?.action?.match(/\(\s*['"]([\w-]+)['"]/)?.[1];
    return [
      el("h2", {}, `State ${number}`, evidence.has(number) && [" ", chip("★ evidence state", "gold")]),
      el(
        "div.halves",
        {},
        el(
          "div.half",
          {},
          picture(state.screenshot, `Screenshot of state ${number}`, { large: true }),
          facts([
            ["URL", el("code.url", {}, state.url)],
            ["led here", state.action ? el("code", {}, state.annotated ?? state.action) : "start of the run"],
            ["thought", state.thought],
            ["next", next?.action ? el("code", {}, next.annotated ?? next.action) : "end of the run"],
          ]),
        ),
        el("div.half", {}, tree(state.tree, target, question?.phrases ?? [])),
      ),
    ];
  }

  // The accessibility tree, the element of the next action and the gold phrases marked; searchable.
  function tree(text, target, phrases) {
    const pre = el("pre.text.tree.tall", { tabIndex: 0, "aria-label": "Accessibility tree" });
    const found = el("span.muted.small", { role: "status" });
    const draw = (word) => {
      const wanted = word.length > 1 ? [word] : phrases;
      const lines = text.split("\n");
      const at = target ? lines.findIndex((line) => line.trimStart().startsWith(`[${target}]`)) : -1;
      const block = (some) => highlighted(some.join("\n"), wanted);
      if (at < 0) pre.replaceChildren(...block(lines));
      else
        pre.replaceChildren(
          ...block([...lines.slice(0, at), ""]),
          el("span.target", { title: "the next action's element" }, block([lines[at]])),
          ...block(["", ...lines.slice(at + 1)]),
        );
      const marks = pre.querySelectorAll("mark");
      found.textContent =
        word.length > 1 ? plural(marks.length, "place") : `${count(text.length)} characters`;
      if (marks.length) pre.scrollTop = Math.max(0, marks[0].offsetTop - pre.offsetTop - 60);
    };
    const search = el("input", {
      type: "search",
      id: "search",
      placeholder: "find in the tree",
      oninput: (event) => draw(event.target.value.trim()),
    });
    requestAnimationFrame(() => draw(""));
    return [
      el(
        "div.tree-head",
        {},
        el("h3", {}, "Accessibility tree"),
        el("label", {}, el("span.visually-hidden", {}, "Find in the tree"), search),
        found,
      ),
      text ? pre : el("p.muted", {}, "The tree is empty."),
    ];
  }

  // A table of trajectories with a filter.
  function table(rows, link, marks) {
    const body = el("tbody");
    const nodes = rows.map((row) => ({
      text: `${row.id} ${row.goal} ${row.start_url} ${row.environment} ${row.family ?? ""} ${row.outcome}`.toLowerCase(),
      marked: marks.has(row.id),
      node: el(
        `tr${marks.has(row.id) ? ".answer" : ""}`,
        {},
        el("td.number.muted", {}, row.position === undefined ? "" : row.position + 1),
        el(
          "th",
          { scope: "row" },
          marks.has(row.id) &&
            el(
              "span.star",
              { title: "answer trajectory" },
              "★ ",
              el("span.visually-hidden", {}, "answer trajectory "),
            ),
          el("a", { href: link(row) }, row.goal || row.id),
        ),
        el("td", {}, outcome(row)),
        el("td.number", {}, row.n_states),
        el("td", {}, row.environment),
        el("td", {}, el("code", {}, row.id)),
      ),
    }));
    const counted = el("p.counted", { role: "status" });
    const state = { word: "", only: false };
    const draw = () => {
      const kept = nodes.filter(
        ({ text, marked }) =>
          (!state.only || marked) && state.word.split(/\s+/).every((word) => text.includes(word)),
      );
      body.replaceChildren(...kept.map(({ node }) => node));
      counted.textContent = `${count(kept.length)} of ${plural(rows.length, "trajectory").replace("trajectorys", "trajectories")}`;
    };
    const search = el("input", {
      type: "search",
      id: "search",
      placeholder: "goal, place or id",
      oninput: (event) => ((state.word = event.target.value.toLowerCase().trim()), draw()),
    });
    draw();
    return [
      el(
        "form.filters",
        {
          role: "search",
          "aria-label": "Filter the trajectories",
          onsubmit: (event) => event.preventDefault(),
        },
        el("label.field.wide", {}, el("span", {}, "Search"), search),
        marks.size > 0 &&
          el(
            "div.field.checks",
            {},
            el(
              "label",
              {},
              el("input", {
                type: "checkbox",
                onchange: (event) => ((state.only = event.target.checked), draw()),
              }),
              " answer trajectories only",
            ),
          ),
      ),
      counted,
      el(
        "div.scroll",
        { tabIndex: 0, role: "region", "aria-label": "Trajectories" },
        el(
          "table.trajectories",
          {},
          el(
            "thead",
            {},
            el(
              "tr",
              {},
              [["", "number"], ["goal"], ["outcome"], ["states", "number"], ["environment"], ["id"]].map(
                ([text, style]) => el(style ? `th.${style}` : "th", { scope: "col" }, text || "place"),
              ),
            ),
          ),
          body,
        ),
      ),
    ];
  }

  async function haystack(view, id, parameters) {
    const common = await lmev2.common();
    const question = common.questions[common.place.get(id)];
    if (!question) return view.replaceChildren(el("h1", {}, "No such question"));
    const tier = common.tiers.includes(parameters.get("tier")) ? parameters.get("tier") : common.tiers[0];
    const { lists, of } = await lmev2.load(`haystack-${tier}`);
    const members = (lists[of[id]] ?? []).map((number, position) => ({
      ...common.trajectories[number],
      position,
    }));
    const marks = evidenceOf(question);
    view.replaceChildren(
      el(
        "div.crumbs",
        {},
        el("a", { href: address(["question", id], { tier }), id: "up" }, `Question ${id}`),
        el("span.spring"),
        select(
          "Tier",
          tier,
          common.tiers.map((name) => [name, name]),
          (name) => (location.hash = address(["haystack", id], { tier: name })),
        ),
      ),
      el("header.page-head", {}, el("h1", {}, `Haystack, ${tier}`), el("p.lead", {}, question.text)),
      positions(members, marks),
      ...table(
        members,
        (row) =>
          address(["trajectory", row.id], {
            question: id,
            tier,
            state: marks.has(row.id) ? Math.min(...marks.get(row.id)) : null,
          }),
        marks,
      ),
    );
  }

  // Where in the haystack the answer trajectories stand.
  function positions(members, marks) {
    const { svg } = lmev2.dom;
    const found = members.filter((row) => marks.has(row.id));
    if (!found.length) return el("p.muted", {}, "No answer trajectory is labelled here.");
    const bar = svg(
      "svg",
      {
        class: "positions",
        width: "100%",
        height: "18",
        role: "img",
        "aria-label": `Answer trajectories at places ${found.map((row) => row.position + 1).join(", ")} of ${members.length}`,
      },
      svg("rect", { class: "line", x: "0", y: "7", width: "100%", height: "4" }),
    );
    for (const row of found)
      bar.append(
        svg(
          "rect",
          {
            class: "at",
            x: `${(98 * row.position) / Math.max(1, members.length - 1)}%`,
            y: "1",
            width: "2%",
            height: "16",
            rx: "2",
          },
          svg("title", {}, `${row.position + 1}: ${row.goal}`),
        ),
      );
    return el(
      "div.places",
      {},
      el("p.small.muted", {}, `${found.length} of ${members.length} hold the answer`),
      bar,
    );
  }

  async function all(view) {
    const common = await lmev2.common();
    const haystacks = await Promise.all(common.tiers.map((tier) => lmev2.load(`haystack-${tier}`)));
    const used = new Set(haystacks.flatMap(({ lists }) => lists.flat()));
    const rows = common.trajectories.filter((_, number) => used.has(number));
    view.replaceChildren(
      el(
        "header.page-head",
        {},
        el("h1", {}, "Trajectories"),
        el("p.lead", {}, "All that are in some haystack."),
      ),
      ...table(rows, (row) => address(["trajectory", row.id]), new Map()),
    );
  }

  return { page, haystack, all };
})();
