// The score of a board, what it loses, and how it changed.

import { el, setText } from "./dom.js";
import { state } from "./store.js";

const PARTS = [
  ["score", "Score", "what the page is worth, of 1"],
  ["item_order", "Item order", "lost because items inside their rows could stand better"],
  ["row_order", "Row order", "lost because rows could stand better"],
  ["choice", "Choice", "lost because other items or carousels could be shown"],
];
const STATUS = {
  no_relevant: "This user has no relevant item, so the page has no score.",
  no_category: "No relevant item of this user has a category, so the ideal is empty and the page has no score.",
};

export const fixed = (value, digits = 4) => (value === null || value === undefined ? "–" : value.toFixed(digits));
export const signed = (value, digits = 4) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(digits)}`;

export function scoreCard() {
  return {
    number: el("output", { class: "number-big" }),
    change: el("span", { class: "change" }),
    metric: el("span", { class: "metric-name" }),
    ideal: el("span", { class: "quiet" }),
    bar: el("div", { class: "losses", "aria-hidden": "true" }),
    legend: el("dl", { class: "legend" }),
    notes: el("ul", { class: "notes" }),
  };
}

export function drawScore(board) {
  const { card, score } = board;
  const value = score?.score ?? null;
  setText(card.number, fixed(value));
  card.number.dataset.value = value === null ? "" : String(value);
  card.number.title = value === null ? "" : String(value);
  card.number.classList.toggle("pending", board.pending);
  card.number.setAttribute("aria-busy", String(board.pending));
  setText(card.metric, state.metricName ?? state.choices.metric);
  drawChange(board, value);
  const divided = score?.ideal !== null && score?.ideal !== undefined;
  const bound = score?.bounded ? " (a bound)" : "";
  card.ideal.textContent = divided ? `${fixed(score.value, 3)} of the ideal ${fixed(score.ideal, 3)}${bound}` : "";
  const shares = score?.losses && value !== null ? { score: value, ...score.losses } : null;
  card.bar.hidden = card.legend.hidden = !shares;
  const parts = shares ? PARTS.filter(([name]) => name === "score" || score.losses[name] !== undefined) : [];
  const segment = ([name]) => el("span", { class: `part ${name}`, "--share": Math.max(0, shares[name]) });
  const entry = ([name, label, about]) => {
    const swatch = el("span", { class: `swatch part ${name}` });
    const share = el("dd", { "data-part": name, "data-value": shares[name] }, fixed(shares[name]));
    return el("div", { title: about }, el("dt", {}, swatch, label), share);
  };
  card.bar.replaceChildren(...parts.map(segment));
  card.legend.replaceChildren(...parts.map(entry));
  const notes = [...(score?.notices ?? [])];
  if (score && STATUS[score.status]) notes.unshift(STATUS[score.status]);
  if (score && !score.losses) notes.push("Losses and the ideal page are shown for N2DCG_cat.");
  if (board.problem) notes.unshift(board.problem);
  if (board.page.notice) notes.unshift(board.page.notice);
  card.notes.replaceChildren(...notes.map((note) => el("li", {}, note)));
}

function drawChange(board, value) {
  const { change } = board.card;
  const known = value !== null && board.baseline !== null && board.baseline !== undefined;
  const difference = known ? value - board.baseline : 0;
  change.hidden = !known || Math.abs(difference) < 5e-5;
  setText(change, change.hidden ? "" : `${difference > 0 ? "▲" : "▼"} ${signed(difference)} since opened`);
  change.classList.toggle("up", difference > 0);
}
