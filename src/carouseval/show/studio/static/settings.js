// The panels of settings: metric, discount and its parameters, gain, candidates; the screen and its weights.

import { byId, el } from "./dom.js";
import { heatmap } from "./heatmap.js";
import { extent } from "./moves.js";
import { rescore } from "./scoring.js";
import { emit, state } from "./store.js";

const WORDS = {
  judged: "all judged items", displayed: "items on the page",
  exp2: "2^relevance − 1", linear: "relevance",
};
const SCREEN = [
  ["rows", "Rows"], ["cols", "Columns"], ["page_size", "Items per swipe page"], ["visible_rows", "Rows in view"],
];

export function choose(changes) {
  state.choices = { ...state.choices, ...changes };
  emit("choices");
  rescore();
}

const metricOf = (name) => state.info.metrics.find((metric) => metric.name === name);
const discountOf = (name) => state.info.discounts.find((discount) => discount.name === name);
const defaultsOf = (name) =>
  Object.fromEntries((discountOf(name)?.parameters ?? []).map((parameter) => [parameter.name, parameter.default]));

// What a link chooses, as far as there is such a thing; the rest is as the server has it.
export function soundChoices(wanted) {
  const { info } = state;
  const isSize = (size) => Number.isInteger(size) && size > 0;
  const choices = { ...info.chosen };
  if (metricOf(wanted.metric)) choices.metric = wanted.metric;
  if (discountOf(wanted.discount)) {
    const parameters = defaultsOf(wanted.discount);
    for (const [name, value] of Object.entries(wanted.parameters ?? {})) {
      if (name in parameters && Number.isFinite(value)) parameters[name] = value;
    }
    Object.assign(choices, { discount: wanted.discount, parameters });
  }
  if (info.gains.includes(wanted.gain)) choices.gain = wanted.gain;
  if (info.candidates.includes(wanted.candidates)) choices.candidates = wanted.candidates;
  const sizes = [wanted.cutoff].flat();
  const lengths = { page: 2, list: 1 };
  if (wanted.cutoff === null) choices.cutoff = null;
  else if (sizes.every(isSize) && sizes.length === lengths[metricOf(choices.metric).cutoff]) {
    choices.cutoff = wanted.cutoff;
  }
  if (wanted.screen && Object.values(wanted.screen).every(isSize)) choices.screen = wanted.screen;
  return choices;
}

function select(label, value, options, onchange) {
  const choices = options.map(([name, text]) => el("option", { value: name, selected: name === value }, text));
  const field = el("select", { onchange: () => onchange(field.value) }, ...choices);
  return labelled(label, field);
}

function labelled(label, field) {
  field.id = `field-${label.toLowerCase().replaceAll(" ", "-")}`;
  return el("div", { class: "field" }, el("label", { for: field.id }, label), field);
}

function slider(label, value, { low, high, step, name, integer = false }, onchange) {
  const id = `slider-${name}`;
  const range = el("input", { type: "range", min: low, max: high, step, value, id, "data-name": name });
  const exact = { step: integer ? 1 : "any", "aria-label": `${label}, exact value` };
  const number = el("input", { type: "number", min: low, max: high, value, ...exact });
  const change = (source, target) => {
    const chosen = Number(source.value);
    if (source.value === "" || !Number.isFinite(chosen) || chosen < low || chosen > high) return;
    if (integer && !Number.isInteger(chosen)) return;
    target.value = chosen;
    onchange(chosen);
  };
  range.addEventListener("input", () => change(range, number));
  number.addEventListener("input", () => change(number, range));
  return el("div", { class: "slider" }, el("label", { for: id }, label), range, number);
}

export function drawMetricPanel() {
  const { info, choices } = state;
  const metric = metricOf(choices.metric);
  const fields = [select("Metric", choices.metric, info.metrics.map(({ name }) => [name, name]), chooseMetric)];
  if (metric.discount !== null) {
    const names = info.discounts.map(({ name, about }) => [name, name.length > 30 ? about : name]);
    fields.push(select("Discount", choices.discount, names, (name) => {
      choose({ discount: name, parameters: defaultsOf(name) });
      drawMetricPanel();
    }));
    fields.push(...parameterFields(choices));
  }
  fields.push(cutoffField(metric, choices));
  const words = (names) => names.map((name) => [name, WORDS[name] ?? name]);
  fields.push(select("Gain", choices.gain, words(info.gains), (gain) => choose({ gain })));
  if (metric.ideal !== "none") {
    const candidates = words(info.candidates);
    fields.push(select("Ideal made of", choices.candidates, candidates, (name) => choose({ candidates: name })));
  }
  byId("metric-panel").replaceChildren(...fields.filter(Boolean));
}

function chooseMetric(name) {
  const { discount, cutoff } = metricOf(name);
  const known = discount === null || state.choices.discount !== null;
  const chosen = known ? {} : { discount, parameters: defaultsOf(discount) };
  const keepsCutoff = cutoff === metricOf(state.choices.metric).cutoff;
  choose({ metric: name, ...chosen, ...(keepsCutoff ? {} : { cutoff: null }) });
  drawMetricPanel();
}

function parameterFields(choices) {
  const discount = discountOf(choices.discount);
  if (!discount) return [];
  const about = el("p", { class: "quiet about" }, discount.about);
  const sliders = discount.parameters.map((parameter) =>
    slider(parameter.name, choices.parameters[parameter.name] ?? parameter.default, parameter, (value) =>
      choose({ parameters: { ...state.choices.parameters, [parameter.name]: value } }),
    ),
  );
  const reset = el("button", { type: "button", class: "small", onclick: () => {
    choose({ parameters: defaultsOf(discount.name) });
    drawMetricPanel();
  } }, "Fitted values");
  return [about, ...sliders, discount.parameters.length ? reset : null];
}

function cutoffField(metric, choices) {
  if (metric.cutoff === "none") return null;
  const isList = metric.cutoff === "list";
  const text = choices.cutoff === null ? "" : [choices.cutoff].flat().join("x");
  const field = el("input", { type: "text", value: text, placeholder: isList ? "none, or 10" : "none, or 3x5", size: 9 });
  field.addEventListener("change", () => {
    const sizes = field.value.trim().toLowerCase().split("x").map(Number);
    const valid = sizes.every((size) => Number.isInteger(size) && size > 0) && sizes.length === (isList ? 1 : 2);
    field.setAttribute("aria-invalid", String(field.value.trim() !== "" && !valid));
    if (field.value.trim() === "") choose({ cutoff: null });
    else if (valid) choose({ cutoff: isList ? sizes[0] : sizes });
  });
  return labelled("Cutoff", field);
}

export function drawScreenPanel() {
  const { info, choices, boards } = state;
  const own = boards[0]?.page.screen;
  if (!own) return;
  const current = choices.screen ?? own;
  const used = boards.map((board) => extent(board.rows));
  const least = { rows: Math.max(...used.map((size) => size.rows)), cols: Math.max(...used.map((size) => size.cols)) };
  const sliders = SCREEN.map(([name, label]) => {
    const low = least[name] ?? 1;
    const limit = name === "rows" || name === "visible_rows" ? info.largest.rows : info.largest.cols;
    const high = Math.min(limit, Math.max(name === "visible_rows" ? 10 : 24, own[name], low));
    return slider(label, current[name], { name, low, high, step: 1, integer: true }, (value) => {
      const { rows, cols, page_size, visible_rows } = state.choices.screen ?? own;
      choose({ screen: { rows, cols, page_size, visible_rows, [name]: value } });
    });
  });
  const reset = el("button", { type: "button", class: "small", onclick: () => {
    choose({ screen: null });
    drawScreenPanel();
  } }, "The page’s own screen");
  const map = el("div", { id: "heatmap" });
  byId("screen-panel").replaceChildren(...sliders, reset, map);
  drawHeatmap();
}

export function drawHeatmap() {
  byId("heatmap")?.replaceChildren(heatmap());
}
