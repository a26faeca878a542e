// The answers: questions × methods, filtered and sorted.
"use strict";
lmev2.matrix = (() => {
  const { el, CODES, ORDER, select, share, plural, address, seconds, say } = lmev2.dom;
  const PARAMETERS = ["tier", "domain", "ability", "evaluator", "show", "a", "b", "q", "sort", "hide"];
  const SHOW = [
    ["", "all"],
    ["some-wrong", "not right somewhere"],
    ["none", "right nowhere"],
    ["all", "right everywhere"],
    ["error", "with an error"],
  ];
  const SORT = [
    ["", "as in the dataset"],
    ["hard", "hardest first"],
    ["easy", "easiest first"],
    ["split", "most disagreement first"],
  ];

  // Columns of the matrix: arm and tier with the code of each question (the majority where there are repeats).
  function columns(common, state) {
    const tiers = state.tier === "both" ? common.tiers : [state.tier];
    const hidden = new Set((state.hide ?? "").split(",").filter(Boolean));
    const found = [];
    for (const tier of tiers) {
      for (const method of common.methods) {
        const cell = common.matrix[method.arm]?.[tier];
        if (!cell || hidden.has(kind(method))) continue;
        found.push({ arm: method.arm, tier, method, cell, codes: together(cell.codes) });
      }
    }
    return found;
  }

  const kind = (method) =>
    method.pilot ? "pilot" : method.ablation ? "ablation" : method.arm.includes("@") ? "point" : "method";

  // One character a question: that of the only repeat, or right where most repeats are right.
  function together(codes) {
    if (codes.length === 1) return codes[0];
    return [...codes[0]]
      .map((first, place) => {
        const all = codes.map((text) => text[place]);
        if (all.filter((code) => code === "1").length * 2 > all.length) return "1";
        return all.find((code) => code !== "1") ?? first;
      })
      .join("");
  }

  // Numbers of the questions that the filters let through, in order.
  function shown(common, state, all) {
    const words = (state.q ?? "").toLowerCase().split(/\s+/).filter(Boolean);
    // The two may be among the hidden columns.
    const every = state.a && state.b ? columns(common, { ...state, hide: "" }) : [];
    const column = (arm) => every.find((found) => found.arm === arm);
    const [a, b] = [column(state.a), column(state.b)];
    const numbers = [];
    common.questions.forEach((question, place) => {
      if (state.domain && question.domain !== state.domain) return;
      if (
        state.ability &&
        (state.ability === "abstention" ? !question.abstention : question.ability !== state.ability)
      )
        return;
      if (state.evaluator && question.evaluator !== state.evaluator) return;
      if (words.length) {
        const text = `${question.id} ${question.text} ${question.answer}`.toLowerCase();
        if (!words.every((word) => text.includes(word))) return;
      }
      if (a && b && (a.codes[place] === "1") === (b.codes[place] === "1")) return;
      const codes = all.map((found) => found.codes[place]).filter((code) => code !== "-");
      const right = codes.filter((code) => code === "1").length;
      if (state.show === "some-wrong" && right === codes.length) return;
      if (state.show === "none" && right > 0) return;
      if (state.show === "all" && right < codes.length) return;
      if (state.show === "error" && !codes.includes("e")) return;
      numbers.push([place, codes.length ? right / codes.length : 0]);
    });
    const orders = {
      hard: ([, one], [, other]) => one - other,
      easy: ([, one], [, other]) => other - one,
      split: ([, one], [, other]) => Math.abs(one - 0.5) - Math.abs(other - 0.5),
    };
    if (orders[state.sort]) numbers.sort(orders[state.sort]);
    return numbers.map(([place]) => place);
  }

  const isShown = (parameters) =>
    Object.fromEntries(PARAMETERS.map((key) => [key, parameters.get(key) ?? ""]));

  async function page(view, parameters) {
    const common = await lmev2.common();
    const state = isShown(parameters);
    state.tier ||= common.tiers[0];
    lmev2.list = { state, numbers: [] };
    const grid = el("div.matrix-scroll", { role: "region", "aria-label": "Matrix of answers", tabIndex: 0 });
    const counted = el("p.counted", { role: "status" });
    const values = (key) => [
      ["", "all"],
      ...[...new Set(common.questions.map((question) => question[key]))]
        .sort()
        .map((value) => [value, value]),
    ];
    const change = (key) => (value) => {
      state[key] = value;
      const kept = { ...state, tier: state.tier === common.tiers[0] ? "" : state.tier };
      history.replaceState(null, "", address(["answers"], kept));
      draw();
    };
    const abilities = values("ability");
    if (common.questions.some((question) => question.abstention))
      abilities.push(["abstention", "abstention"]);
    const arms = [["", "any"], ...common.methods.map((method) => [method.arm, method.label])];
    const search = el("input", {
      type: "search",
      id: "search",
      value: state.q,
      placeholder: "question, answer or id",
      oninput: (event) => change("q")(event.target.value),
    });
    const toggles = [
      ["ablation", "ablations"],
      ["point", "operating points"],
      ["pilot", "pilot studies"],
    ].filter(([name]) => common.methods.some((method) => kind(method) === name));
    const hide = (name) => (event) => {
      const hidden = new Set(state.hide.split(",").filter(Boolean));
      if (event.target.checked) hidden.delete(name);
      else hidden.add(name);
      change("hide")([...hidden].join(","));
    };
    const tiers = common.tiers.map((tier) => [tier, tier]);
    if (tiers.length > 1) tiers.push(["both", common.tiers.length > 2 ? "all" : "both"]);
    const filters = el(
      "form.filters",
      { role: "search", "aria-label": "Filter the answers", onsubmit: (event) => event.preventDefault() },
      el("label.field.wide", {}, el("span", {}, "Search"), search),
      select("Tier", state.tier, tiers, change("tier")),
      el(
        "details.more",
        {
          open:
            matchMedia("(min-width: 761px)").matches ||
            PARAMETERS.some((key) => !["tier", "q"].includes(key) && state[key]),
        },
        el("summary", {}, "Filters and columns"),
        el(
          "div.filters",
          {},
          select("Domain", state.domain, values("domain"), change("domain")),
          select("Ability", state.ability, abilities, change("ability")),
          select("Evaluator", state.evaluator, values("evaluator"), change("evaluator")),
          select("Show", state.show, SHOW, change("show")),
          select("Sort", state.sort, SORT, change("sort")),
          el(
            "fieldset.field.pair",
            {},
            el("legend", {}, "Where these two disagree"),
            select("one", state.a, arms, change("a")),
            select("other", state.b, arms, change("b")),
          ),
          toggles.length &&
            el(
              "fieldset.field",
              {},
              el("legend", {}, "Columns"),
              el(
                "div.checks",
                {},
                toggles.map(([name, label]) =>
                  el(
                    "label",
                    {},
                    el("input", {
                      type: "checkbox",
                      checked: !state.hide.split(",").includes(name),
                      onchange: hide(name),
                    }),
                    ` ${label}`,
                  ),
                ),
              ),
            ),
          el("button.quiet", { type: "button", onclick: () => (location.hash = "#/answers") }, "Clear"),
        ),
      ),
    );
    const legend = el(
      "ul.legend",
      { "aria-label": "Signs" },
      ORDER.map((code) => CODES[code]).map(({ sign, name, style }) =>
        el("li", {}, el(`span.mark.${style}`, { "aria-hidden": "true" }, sign), ` ${name}`),
      ),
    );
    view.replaceChildren(
      el("header.page-head", {}, el("h1", {}, "Answers")),
      filters,
      el("div.under", {}, counted, legend),
      grid,
    );

    let rows = null; // question number -> its row, made once for a set of columns
    let made = "";
    function draw() {
      const all = columns(common, state);
      const numbers = shown(common, state, all);
      lmev2.list = { state, numbers };
      const signature = `${state.tier} ${state.hide}`;
      if (signature !== made) {
        rows = build(common, all, state, grid);
        made = signature;
      }
      const body = grid.querySelector(".body");
      body.replaceChildren(...numbers.map((place) => rows.get(place)));
      reach(body, body.querySelector("a"));
      const totals = grid.querySelectorAll(".total");
      all.forEach((column, number) => {
        const codes = numbers.map((place) => column.codes[place]).filter((code) => code !== "-");
        totals[number].textContent = codes.length
          ? share(codes.filter((code) => code === "1").length / codes.length)
          : "";
      });
      counted.textContent = `${numbers.length} of ${plural(common.questions.length, "question")}, ${plural(all.length, "column")}`;
    }
    draw();
  }

  function build(common, all, state, grid) {
    const head = el(
      "div.row.head",
      { role: "row" },
      el("div.name", { role: "columnheader" }, "question"),
      all.map((column, number) => {
        const before = all[number - 1];
        const gap = before && (before.method.family !== column.method.family || before.tier !== column.tier);
        const label = state.tier === "both" ? `${column.method.label}, ${column.tier}` : column.method.label;
        return el(
          `div.column${gap ? ".gap" : ""}`,
          { role: "columnheader", title: label },
          el("span.label", {}, label),
          el("span.total"),
        );
      }),
    );
    const table = el(
      "div.matrix",
      {
        role: "grid",
        "aria-label": "Questions by methods",
        "aria-rowcount": common.questions.length + 1,
        "aria-colcount": all.length + 1,
      },
      head,
      el("div.body", { role: "rowgroup" }),
    );
    const cells = Object.fromEntries(
      Object.entries(CODES).map(([code, { sign, style }]) => [
        code,
        el(`div.cell.${style}`, { role: "gridcell", tabIndex: -1 }, sign),
      ]),
    );
    const gaps = all.map(
      (column, number) =>
        number &&
        (all[number - 1].method.family !== column.method.family || all[number - 1].tier !== column.tier),
    );
    const rows = new Map();
    common.questions.forEach((question, place) => {
      const row = el("div.row", { role: "row", dataset: { place } });
      row.append(
        el(
          "div.name",
          { role: "rowheader" },
          el(
            "a",
            {
              href: address(["question", question.id], {
                tier: state.tier === "both" ? common.tiers[0] : state.tier,
              }),
              title: question.text,
              tabIndex: -1,
            },
            question.text,
          ),
        ),
      );
      all.forEach((column, number) => {
        const cell = cells[column.codes[place]].cloneNode(true);
        if (gaps[number]) cell.classList.add("gap");
        row.append(cell);
      });
      rows.set(place, row);
    });
    const about = (cell) => {
      const row = cell.closest(".row");
      const column = all[[...row.children].indexOf(cell) - 1];
      const place = Number(row.dataset.place);
      return column && row.dataset.place ? { column, place, question: common.questions[place] } : null;
    };
    const tell = (event) => {
      const found = event.target.classList.contains("cell") && about(event.target);
      if (!found) return;
      const { column, place } = found;
      const names = column.cell.codes.map((text) => CODES[text[place]].name).join(", ");
      const rank = column.cell.trajectory[place];
      const text =
        `${column.method.label}, ${column.tier}: ${names}; query ${seconds(column.cell.latency[place])}` +
        (rank ? `; first answer trajectory at place ${rank}` : "");
      event.target.title = text;
      if (event.type === "focusin") say(text);
    };
    table.addEventListener("mouseover", tell);
    table.addEventListener("focusin", (event) => {
      tell(event);
      if (event.target.tagName === "A") reach(table, event.target);
    });
    table.addEventListener("click", (event) => {
      const found = event.target.classList.contains("cell") && about(event.target);
      if (found)
        location.hash = address(["question", found.question.id], {
          tier: found.column.tier,
          methods: found.column.arm,
        });
    });
    table.addEventListener("keydown", (event) => move(event, table));
    grid.replaceChildren(table);
    return rows;
  }

  // The Tab key reaches one row; arrows and j, k go on from there.
  function reach(within, link) {
    for (const other of within.querySelectorAll("a[tabindex='0']")) other.tabIndex = -1;
    if (link) link.tabIndex = 0;
  }

  function move(event, table) {
    const item = event.target.closest("[role=gridcell], [role=rowheader]");
    if (!item || event.altKey || event.ctrlKey || event.metaKey) return;
    const row = item.closest(".row");
    const at = [...row.children].indexOf(item);
    const focus = (target) => {
      (target?.querySelector?.("a") ?? target)?.focus();
      target?.scrollIntoView({ block: "nearest", inline: "nearest" });
    };
    const steps = {
      ArrowRight: () => row.children[at + 1],
      ArrowLeft: () => row.children[at - 1],
      ArrowDown: () => row.nextElementSibling?.children[at],
      ArrowUp: () => row.previousElementSibling?.children[at],
      Home: () => row.children[0],
      End: () => row.lastElementChild,
    };
    if (event.key in steps) {
      event.preventDefault();
      focus(steps[event.key]());
    } else if (event.key === "Enter" && item.getAttribute("role") === "gridcell") {
      item.click();
    }
  }

  // j and k: rows.
  function step(by) {
    const body = document.querySelector(".matrix .body");
    if (!body) return;
    const row = document.activeElement?.closest?.(".row[data-place]");
    const next = row
      ? by > 0
        ? row.nextElementSibling
        : row.previousElementSibling
      : body.firstElementChild;
    next?.querySelector("a")?.focus();
    next?.scrollIntoView({ block: "nearest" });
  }

  return { page, step, together, columns, kind };
})();
