// Data files: scripts that call lmev2.data(name, text); loaded when a page needs them, each once.
"use strict";
window.lmev2 = (() => {
  const waiting = new Map();
  const loaded = new Map();

  async function unpack(text) {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  }

  // Called by the data files.
  function data(name, text) {
    waiting.get(name)?.(unpack(text));
  }

  function load(name) {
    if (!loaded.has(name)) {
      loaded.set(
        name,
        new Promise((resolve, reject) => {
          waiting.set(name, resolve);
          const script = document.createElement("script");
          script.src = `data/${name.split("/").map(encodeURIComponent).join("/")}.js`;
          script.onload = () => script.remove();
          script.onerror = () => {
            loaded.delete(name);
            reject(new Error(`${script.src} is missing: the explorer is not complete, make it again`));
          };
          document.head.append(script);
        }),
      );
    }
    return loaded.get(name);
  }

  // What all pages need: methods, scores, questions, trajectories, each also by its id.
  let shared = null;
  function common() {
    shared ??= Promise.all([load("index"), load("questions"), load("trajectories")]).then(
      ([index, questions, trajectories]) => ({
        ...index,
        questions,
        trajectories,
        method: new Map(index.methods.map((method) => [method.arm, method])),
        place: new Map(questions.map((question, number) => [question.id, number])),
        trajectory: new Map(trajectories.map((row, number) => [row.id, { ...row, number }])),
      }),
    );
    return shared;
  }

  // A trajectory with its states.
  async function trajectory(id) {
    const { trajectory: known } = await common();
    if (!known.has(id)) throw new Error(`There is no trajectory ${id} in the dataset.`);
    return load(`trajectories/${known.get(id).number}`);
  }

  // An arm's answers in brief, by "question repeat".
  const indexes = new Map();
  function briefs(arm, tier) {
    const name = `answers/${arm}/${tier}/index`;
    if (!indexes.has(name)) {
      indexes.set(
        name,
        load(name).then((rows) => new Map(rows.map((row) => [row.key, row]))),
      );
    }
    return indexes.get(name);
  }

  // One answer whole.
  async function answer(arm, tier, key) {
    const brief = (await briefs(arm, tier)).get(key);
    if (!brief) return null;
    const group = await load(`answers/${arm}/${tier}/${brief.file}`);
    return { brief, ...group[key] };
  }

  return { data, load, common, trajectory, briefs, answer };
})();
