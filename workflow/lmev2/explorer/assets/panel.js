// One answer: what was said, how it was scored, how long it took, where the evidence came from.
"use strict";
lmev2.panel = (() => {
  const { el, svg, mark, chip, facts, fold, block, address, seconds, count, money, plural } = lmev2.dom;
  const { evidenceOf, badge, list, size, stateRange } = lmev2.context;
  const PARTS = [
    ["model_s", "model or agent"],
    ["embed_s", "embedding"],
    ["search_s", "search"],
    ["render_s", "rendering"],
    ["other_s", "other"],
  ];
  const CLASSES = {
    setup: "set-up",
    harness: "manifest or helper",
    raw: "raw trajectories",
    visual: "pictures",
    validation: "output",
    other: "other",
  };

  const code = (brief) => (brief.status !== "ok" ? "e" : brief.score === 1 ? "1" : brief.unknown ? "u" : "0");

  function panel(method, answer, question, common, state) {
    const title = `h-panel-${method.arm}`;
    return el(
      "section.panel",
      { "aria-labelledby": title },
      el("header", {}, el("h2", { id: title }, mark(code(answer.brief), true), " ", method.label)),
      response(answer),
      verdict(answer, question),
      numbers(answer),
      found(answer, question),
      el(
        "section",
        {},
        el(
          "h3",
          {},
          "Context ",
          el(
            "small.muted",
            {},
            size(answer),
            answer.read.was_truncated ? `, cut from ${count(answer.read.context_tokens)}` : "",
          ),
        ),
        list(answer.items, question, common, state.tier),
      ),
    );
  }

  // The response with the last \boxed{…} marked.
  function response(answer) {
    const { read } = answer;
    if (!read.response)
      return el(
        "section",
        {},
        el("h3", {}, "Response"),
        el("p.muted", {}, failed(answer) || "The reader was not asked."),
        failed(answer) && block(read.error || answer.query.error),
      );
    // An empty box is passed over: the whole response is then the prediction.
    const parts =
      read.boxed === "empty"
        ? { before: read.response, boxed: "", after: "" }
        : boxedParts(read.response);
    return el(
      "section",
      {},
      el("h3", {}, "Response"),
      el(
        "pre.text.response",
        {},
        parts.before,
        parts.boxed && el("mark.boxed", { title: "the prediction" }, parts.boxed),
        parts.after,
      ),
      parts.boxed
        ? null
        : el(
            "p.small.muted",
            {},
            `${read.boxed === "empty" ? "An empty" : "No"} box: the whole response is the prediction.`,
          ),
      read.status !== "ok" && el("p.fault", {}, `${read.status.replaceAll("_", " ")} ${read.error ?? ""}`),
      read.reasoning &&
        fold(`Reasoning (${count(read.reasoning.length)} characters)`, () => block(read.reasoning)),
    );
  }

  const failed = ({ query, read }) =>
    [query.status, read.status].find((status) => status !== "ok")?.replaceAll("_", " ");

  function boxedParts(text) {
    const start = text.lastIndexOf("\\boxed{");
    if (start < 0) return { before: text, boxed: "", after: "" };
    let depth = 0;
    let end = text.length;
    for (let at = start + 6; at < text.length; at += 1) {
      if (text[at] === "{") depth += 1;
      else if (text[at] === "}") depth -= 1;
      if (depth === 0) {
        end = at + 1;
        break;
      }
    }
    return { before: text.slice(0, start), boxed: text.slice(start, end), after: text.slice(end) };
  }

  // Why a rule for choices decided as it did: it compares them with the gold answer's.
  const choiceReason = ({ judge, brief }, question) =>
    judge.evaluator.startsWith("mc_") && judge.status === "ok" && !brief.unknown
      ? `${judge.score === 1 ? "the choice of the gold answer" : "not the choice of the gold answer"}, ${question.answer}`
      : "";

  function verdict(answer, question) {
    const { judge, brief, read, phrases } = answer;
    const prediction = read.prediction ?? "";
    return el(
      "section",
      {},
      el("h3", {}, "Verdict ", chip(judge.evaluator)),
      phrases.length > 0 &&
        el(
          "ul.phrases",
          { "aria-label": "Phrases of the gold answer" },
          phrases.map(([phrase, found]) =>
            el(
              "li",
              {},
              mark(found ? "1" : "0"),
              " ",
              phrase,
              el("span.visually-hidden", {}, found ? " is in the prediction" : " is missing"),
            ),
          ),
        ),
      phrases.length > 0 &&
        brief.score === 0 &&
        !brief.unknown &&
        phrases.every(([, found]) => found) &&
        el("p.small.muted", {}, "All are there, not in the order of the gold answer."),
      facts([
        ["prediction", prediction.length > 400 ? `${prediction.slice(0, 400)}…` : prediction],
        ["reason", judge.reason || choiceReason(answer, question)],
        ["judge", judge.model],
        ["fault", judge.status === "ok" ? "" : `${judge.status.replaceAll("_", " ")} ${judge.error}`],
      ]),
      judge.response && fold("The judge's words", () => block(judge.response)),
    );
  }

  function numbers({ query, read, judge }) {
    const total = PARTS.reduce((sum, [key]) => sum + (query.parts[key] ?? 0), 0);
    let left = 0;
    const bar = svg("svg", {
      class: "latency",
      width: "100%",
      height: "14",
      role: "img",
      "aria-label": `Latency ${seconds(query.latency_s)}`,
    });
    for (const [key, name] of PARTS) {
      const part = total ? (100 * (query.parts[key] ?? 0)) / total : 0;
      if (part > 0)
        bar.append(
          svg(
            "rect",
            { class: `part-${key}`, x: `${left}%`, y: "0", width: `${part}%`, height: "14" },
            svg("title", {}, `${name} ${seconds(query.parts[key])}`),
          ),
        );
      left += part;
    }
    const legend = PARTS.filter(([key]) => query.parts[key] > 0).map(([key, name]) =>
      el(
        "li",
        {},
        svg(
          "svg",
          { class: "swatch", width: "10", height: "10", "aria-hidden": "true" },
          svg("rect", { class: `part-${key}`, width: "10", height: "10" }),
        ),
        ` ${name} ${seconds(query.parts[key])}`,
      ),
    );
    const rows = [...query.roles, { role: "reader", ...read }, { role: "judge", ...judge }].filter(
      (row) => row.calls || row.attempts,
    );
    return el(
      "section",
      {},
      el("h3", {}, "Latency and cost ", el("small.muted", {}, seconds(query.latency_s))),
      total > 0 && bar,
      legend.length > 0 && el("ul.legend", {}, legend),
      el(
        "p.small.muted",
        {},
        [
          query.in_flight > 1 && `${query.in_flight} queries ran at the time`,
          query.queue_wait_s > 0.0005 && `waited ${seconds(query.queue_wait_s)} for a slot`,
          query.retry_wait_s > 0.0005 && `${seconds(query.retry_wait_s)} between attempts`,
          query.insert_s > 0.0005 && `insertion ${seconds(query.insert_s)}`,
        ]
          .filter(Boolean)
          .join(", "),
      ),
      rows.length > 0 &&
        fold(`Calls (${count(rows.reduce((sum, row) => sum + row.calls, 0))})`, () =>
          el(
            "div.scroll",
            { tabIndex: 0, role: "group", "aria-label": "Calls" },
            el(
              "table",
              {},
              el(
                "thead",
                {},
                el(
                  "tr",
                  {},
                  ["role", "model"].map((text) => el("th", { scope: "col" }, text)),
                  ["calls", "in", "out", "time", "cost"].map((text) =>
                    el("th.number", { scope: "col" }, text),
                  ),
                ),
              ),
              el(
                "tbody",
                {},
                rows.map((row) =>
                  el(
                    "tr",
                    {},
                    el("td", {}, row.role),
                    el("td", {}, row.model),
                    [
                      count(row.calls),
                      count(row.input_tokens),
                      count(row.output_tokens),
                      seconds(row.latency_s),
                      money(row.cost),
                    ].map((text) => el("td.number", {}, text)),
                  ),
                ),
              ),
            ),
          ),
        ),
    );
  }

  // How the context was found: queries and hits, or an agent's commands.
  function found(answer, question) {
    const { trace } = answer;
    const evidence = evidenceOf(question);
    const parts = [];
    if (trace.bundle) parts.push(bundle(trace, evidence));
    else if (trace.hits)
      parts.push(Object.entries(trace.hits).map(([pool, hits]) => hitTable(pool, hits, evidence, null)));
    for (const [number, attempt] of (trace.attempts ?? []).entries())
      parts.push(attemptOf(attempt, number, trace.attempts.length));
    if (trace.dropped && Object.keys(trace.dropped).length && trace.attempts)
      parts.push(el("p.small", {}, `Dropped from the output: ${JSON.stringify(trace.dropped)}`));
    if (trace.more) parts.push(fold("Trace", () => block(trace.more)));
    if (!parts.length) return null;
    const about = trace.agent
      ? `${trace.agent}, effort ${trace.effort}`
      : trace.controller
        ? `controller: ${trace.controller}`
        : "";
    return el("section", {}, el("h3", {}, "How it was found ", el("small.muted", {}, about)), parts);
  }

  function bundle(trace, evidence) {
    const kept = new Set((trace.hits?.slices ?? []).map((hit) => hit.id));
    const { raw_state_queries: queries = [], event_query: event = "", note_query: note = "" } = trace.bundle;
    const ranked = new Map(trace.slice_hits ?? []);
    const unknown = new Set(trace.queries_without_vector ?? []);
    const part = (pool, query, hits, keep) =>
      el(
        "div.query",
        {},
        el(
          "p",
          {},
          chip(pool, "source"),
          " ",
          el("q", {}, query),
          unknown.has(query) && [" ", chip("no word known", "warn")],
        ),
        hits?.length ? hitTable("", hits, evidence, keep) : el("p.small.muted", {}, "Found nothing."),
      );
    return el(
      "div.bundle",
      {},
      note && part("notes", note, trace.hits?.notes, null),
      event && part("events", event, trace.hits?.events, null),
      queries.map((query) =>
        part(
          "slices",
          query,
          ranked.get(query) ?? (queries.length === 1 ? trace.hits?.slices : []),
          ranked.has(query) ? kept : null,
        ),
      ),
      trace.dropped &&
        Object.keys(trace.dropped).length > 0 &&
        el(
          "p.small.muted",
          {},
          `Left out of the reply: ${Object.entries(trace.dropped)
            .map(([name, number]) => `${number} ${name.replaceAll("_", " ")}`)
            .join(", ")}.`,
        ),
    );
  }

  function hitTable(pool, hits, evidence, kept) {
    const states = (hit) =>
      hit.states.length ? stateRange(Math.min(...hit.states), Math.max(...hit.states)) : "";
    const level = (hit) => {
      const known = evidence.get(hit.trajectory);
      if (!known) return "";
      const [first, last] = [Math.min(...hit.states), Math.max(...hit.states)];
      return hit.states.length && [...known].some((state) => state >= first && state <= last)
        ? "state"
        : "trajectory";
    };
    return el(
      "div.scroll",
      { tabIndex: 0, role: "group", "aria-label": "Hits" },
      el(
        "table.hits",
        {},
        pool && el("caption", {}, chip(pool, "source")),
        el(
          "thead",
          {},
          el(
            "tr",
            {},
            el("th.number", { scope: "col" }, "score"),
            el("th", { scope: "col" }, "entry"),
            el("th.what", { scope: "col" }, "what"),
          ),
        ),
        el(
          "tbody",
          {},
          hits.map((hit) =>
            el(
              `tr${kept && !kept.has(hit.id) ? ".dropped" : ""}`,
              {
                title:
                  kept && !kept.has(hit.id)
                    ? "found, not in the context: another query had it, or the budget was used up"
                    : undefined,
              },
              el("td.number", {}, hit.score.toFixed(3)),
              el(
                "td",
                {},
                hit.trajectory
                  ? el(
                      "a",
                      { href: address(["trajectory", hit.trajectory], { state: hit.states[0] }) },
                      hit.trajectory,
                    )
                  : hit.id,
                " ",
                el("span.muted", {}, states(hit)),
              ),
              el(
                "td.what",
                {},
                badge(level(hit)),
                hit.kind && chip(hit.kind),
                " ",
                hit.title,
                kept && !kept.has(hit.id) ? chip("left out") : null,
              ),
            ),
          ),
        ),
      ),
    );
  }

  function attemptOf(attempt, number, total) {
    const known = attempt.commands.filter((command) => command.duration_s !== null);
    const longest = Math.max(0.001, ...known.map((command) => command.duration_s));
    return el(
      "div.attempt",
      {},
      total > 1 && el("h4", {}, `Attempt ${number + 1} of ${total}`),
      attempt.fault && el("p.fault", {}, attempt.fault),
      el(
        "p.small.muted",
        {},
        `${plural(attempt.commands.length, "command")} in ${seconds(attempt.seconds)}, exit code ${attempt.exit_code ?? "none"}`,
      ),
      attempt.notes && el("div.notes", {}, el("h4", {}, "Notes"), block(attempt.notes)),
      el(
        "ol.commands",
        {},
        attempt.commands.map((command, at) =>
          el(
            "li",
            {},
            fold(
              el(
                "span.command",
                {},
                el("span.place", {}, at + 1),
                chip(CLASSES[command.class] ?? command.class, `class-${command.class}`),
                el(
                  "code",
                  {},
                  command.command.length > 300 ? `${command.command.slice(0, 300)}…` : command.command,
                ),
                el(
                  "span.duration",
                  {},
                  command.exit_code ? chip(`exit ${command.exit_code}`, "warn") : null,
                  command.duration_s === null
                    ? ""
                    : command.duration_s < 0.001
                      ? "< 1 ms"
                      : seconds(command.duration_s),
                  command.duration_s === null
                    ? null
                    : svg(
                        "svg",
                        { class: "tick", width: "48", height: "6", "aria-hidden": "true" },
                        svg("rect", { width: `${(100 * command.duration_s) / longest}%`, height: "6" }),
                      ),
                ),
              ),
              () => [
                command.command.length > 300 && block(command.command),
                block(command.output || "no output"),
              ],
            ),
          ),
        ),
      ),
      attempt.last_message && fold("Last message", () => block(attempt.last_message)),
      attempt.output && fold("Output file", () => block(attempt.output)),
      (attempt.stderr || attempt.error) &&
        fold("Error output", () => block([attempt.error, attempt.stderr].filter(Boolean).join("\n"))),
    );
  }

  return { panel, code, boxedParts };
})();
