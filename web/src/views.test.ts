import { describe, expect, test } from "vitest";
import { allViews } from "./all_views";
import type { MetricDescription } from "./api/types";
import { type OptionTexts, readOptions, type Schema, writeOptions } from "./core/options";
import { readSelection } from "./core/selection";
import type { RecordingSource } from "./core/source";
import type { View } from "./core/view";
import { invent, makeMap, setStage } from "./testing/recording";

const sources = Object.entries(
  import.meta.glob<string>("./views/*/*.ts", { eager: true, query: "?raw", import: "default" }),
).filter(([path]) => !path.endsWith(".test.ts"));

/** Links as they have always been written, and what they mean. */
const LINKS: Readonly<Record<string, readonly [link: string, values: object]>> = {
  walk: [
    "walk.step=decoder.1.self.weights&walk.cell=2,1&walk.word=3",
    { step: "decoder.1.self.weights", cell: [2, 1], word: 3 },
  ],
  playground: ["playground.topic=masks", { topic: "masks" }], // and the parameters of each topic
  overview: [
    "overview.metric=distance&overview.order=high&overview.pool=max&overview.colours=shared&overview.keep=at_most_0.5",
    {
      metric: "distance",
      order: "high",
      pool: "max",
      colours: "shared",
      keep: { way: "at_most", bound: 0.5 },
    },
  ],
  heatmap: [
    "heatmap.scale=row&heatmap.pool=max&heatmap.leave=special&heatmap.at=70.3_66.1_37&heatmap.renderer=canvas",
    { scale: "row", pool: "max", leave: "special", at: "70.3_66.1_37", renderer: "canvas" },
  ],
  sound: ["sound.show=received", { show: "received" }],
  picture: ["picture.show=rollout&picture.paint=light", { show: "rollout", paint: "light" }],
  lines: [
    "lines.heads=1:1,2&lines.threshold=0.0400&lines.scale=relative",
    { heads: { of: "1", heads: [1, 2] }, threshold: 0.04, scale: true },
  ],
  text: ["text.show=in&text.queries=0&text.keys=1000", { show: "in", queries: 0, keys: 1000 }],
  encoder: [
    "encoder.stack=decoder&encoder.by=neuron&encoder.range=all&encoder.neuron=11&encoder.layer=0&encoder.scale=log",
    { stack: "decoder", by: "neuron", range: "all", neuron: 11, layer: 0, scale: true },
  ],
  embeddings: [
    "embeddings.stack=decoder&embeddings.as=distributions&embeddings.by=umap&embeddings.layer=3&embeddings.from=20",
    { stack: "decoder", as: "distributions", by: "umap", layer: 3, from: 20 },
  ],
  canvas: [
    "canvas.encoder=1.5&canvas.attention=70.3_66.1_37&canvas.input=0.1_0.2_2&canvas.output=0_0_1.5",
    { encoder: "1.5", attention: "70.3_66.1_37", input: "0.1_0.2_2", output: "0_0_1.5" },
  ],
  flow: ["", {}],
  numbers: [
    "numbers.tau=0.2&numbers.relative=1&numbers.level=layer&numbers.metrics=a,b&numbers.grid=x&numbers.along=peak&numbers.sort=-entropy",
    {
      tau: 0.2,
      relative: true,
      level: "layer",
      metrics: ["a", "b"],
      grid: "x",
      along: "peak",
      sort: { name: "entropy", down: true },
    },
  ],
  inside: [
    "inside.part=multiplier&inside.counts=log&inside.array=scores&inside.order=size&inside.factor=1.7&inside.scope=all",
    { part: "multiplier", counts: true, array: "scores", order: true, factor: 1.7, scope: true },
  ],
  curves: [
    "curves.smoothing=0.9&curves.logy=1&curves.logx=1&curves.at=10-200",
    { smoothing: 0.9, logy: true, logx: true, at: "10-200" },
  ],
  learning: [
    "learning.statistic=peak&learning.run=1&learning.as=curves&learning.at=10-20",
    { statistic: "peak", run: 1, as: "curves", at: "10-20" },
  ],
  runs: ["runs.state=running&runs.sort=score&runs.up=1", { state: "running", sort: "score", up: true }],
  search: [
    "search.id=first-search&search.sort=model.heads&search.up=1&search.brush=model.heads:0.2-0.5,loss:0.9-1",
    { id: "first-search", sort: "model.heads", up: true, brush: "model.heads:0.2-0.5,loss:0.9-1" },
  ],
  effects: [
    "effects.word=%20floor&effects.against=%2317&effects.at=3",
    { word: " floor", against: "#17", at: 3 },
  ],
  patching: [
    "patching.clean=a&patching.corrupted=b&patching.answer=c&patching.other=d&patching.part=heads&patching.at=4&patching.cell=3,1",
    { clean: "a", corrupted: "b", answer: "c", other: "d", part: "heads", at: 4, cell: "3,1" },
  ],
  atlas: [
    "atlas.colour=score:induction&atlas.search=object&atlas.type=sink&atlas.beside=other",
    { colour: "score:induction", search: "object", type: "sink", beside: "other" },
  ],
  generation: [
    "generation.node=5&generation.step=2&generation.predict=1",
    { node: 5, step: 2, predict: true },
  ],
};

const WORDS = ["colour", "type", "beside", "word", "against", "clean", "corrupted", "answer", "other"]; // any text
type AnyOptions = Record<string, unknown>;
const views = allViews.map(({ name, options }) => ({
  name,
  options: options as Schema<object> as Schema<AnyOptions>,
}));

describe("options of views", () => {
  test.each(views)(
    "$name: a link means what it always meant, and is written again alike",
    ({ name, options }) => {
      const [link, values] = LINKS[name]!;
      const texts = readSelection(link).options ?? {};
      const read = readOptions(name, options, texts);
      expect(read).toMatchObject(values);
      expect(Object.keys(values).length).toBeGreaterThanOrEqual(Object.keys(options).length - 1); // "overview.way"
      expect(writeOptions(name, options, {}, read)).toEqual(texts);
    },
  );

  test.each(views)(
    "$name: what is no value is the default, and defaults are not written",
    ({ name, options }) => {
      const usual = readOptions(name, options, {});
      expect(writeOptions(name, options, {}, usual)).toEqual({});
      const free = new Set(["stack", "metric", "grid", "metrics", "sort", "topic", "search", "id", ...WORDS]); // names that are there or not
      for (const [option, initial] of Object.entries(usual)) {
        if (free.has(option) || `${name}.${option}` === "walk.step") continue;
        for (const wrong of ["nonsense!", "-1", "NaN"]) {
          const texts: OptionTexts = { [`${name}.${option}`]: wrong };
          expect(readOptions(name, options, texts)[option], `${option}=${wrong}`).toEqual(initial);
        }
      }
    },
  );

  test("are known of every view", () =>
    expect(Object.keys(LINKS).sort()).toEqual(views.map((view) => view.name).sort()));
});

describe("files of views", () => {
  test("there are some", () => expect(sources.length).toBeGreaterThan(80));

  test.each(sources)("%s: options are read by their schema, and the source is asked in data/", (_, text) => {
    expect(text).not.toMatch(/options\[|\.option\(|\.options\.get/);
    expect(text).not.toMatch(/api\/frames"/);
    const questions =
      "tokens|media|thumbnails|weights|scores|average|tile|statistics|vectors|hidden|activations|distribution|score";
    expect(text).not.toMatch(
      new RegExp(`\\b(source|before|after|round)\\.(${questions})\\(|(?<!\\.)\\bfetch\\(`),
    );
  });
});

/** A source that never answers, and notes what is asked within which signals. */
function silent() {
  const asked: { readonly name: string; readonly scopes: readonly AbortSignal[] }[] = [];
  const hidden = [{ stack: "decoder", side: "source" as const, layers: 3, tokens: 3, width: 4 }];
  const maps = [0, 1].map((layer) => makeMap(layer, { layer, queries: 3, has_scores: true }));
  const { description } = invent({ change: { maps, hidden } }).source;
  const within = (scopes: readonly AbortSignal[]): RecordingSource =>
    new Proxy({ description } as RecordingSource, {
      get: (target, name) => {
        if (name === "description") return target.description;
        if (name === "within") return (scope: AbortSignal) => within([...scopes, scope]);
        return () => {
          asked.push({ name: String(name), scopes });
          return new Promise(() => {});
        };
      },
    });
  const open = () => asked.filter(({ scopes }) => scopes.every(({ aborted }) => !aborted));
  return { source: within([]), description, asked, open };
}

const label = { en: "Entropy", zh: "熵" };
const METRIC = {
  ...{ name: "entropy", label, caption: label, lower: null, higher: null, family: "entropy", unit: "nats" },
  ...{ over: "head", levels: ["head", "layer", "model"], panel: true, parameters: [], needs: "statistics" },
} as unknown as MetricDescription;

describe("requests of views", () => {
  const all = allViews.filter(({ needs }) => needs === "recording") as readonly View[];
  test.each(all)("$name: end when another map is chosen, and when the view is left", (view) => {
    const { source, description, asked, open } = silent();
    const life = new AbortController(); // as the canvas has it: it ends with the view
    const { stage, selection } = setStage(source, { map: 0, head: 0, query: 1 });
    const { signal } = life;
    const mounted = view.mount({ ...stage, source: source.within(signal), signal, metrics: [METRIC] });
    selection.subscribe((now, before) => mounted.update(now, before));
    const first = asked.length;
    if (!/generation|effects|patching/.test(view.name)) expect(first).toBeGreaterThan(0); // nothing to show here
    selection.set({ place: description.maps[1]!.place, head: 1 });
    const ofMap = /weights|scores|average|tile|distribution|vectors/;
    const left = open().filter((each) => ofMap.test(each.name) && asked.indexOf(each) < first);
    if (!/flow|embeddings/.test(view.name)) expect(left).toEqual([]); // these show every layer at once
    mounted.unmount();
    life.abort();
    expect(open()).toEqual([]);
  });
});
