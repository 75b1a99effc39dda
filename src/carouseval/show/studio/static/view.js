// One system's page on the screen: heading, score, actions, carousels and the ideal page.

import { post } from "./api.js";
import { drawRows } from "./board.js";
import { download, el, say } from "./dom.js";
import { allowDragging } from "./drag.js";
import { drawIdeal } from "./ideal.js";
import { drawingFile } from "./drawing.js";
import { allowKeys } from "./keyboard.js";
import { sameRows } from "./moves.js";
import { drawScore, scoreCard } from "./score.js";
import { question } from "./scoring.js";
import { edit, emit, learnNames, state } from "./store.js";

export function createBoard(page) {
  const board = {
    system: page.system, page, rows: page.rows, held: null, // held: the place of what is being moved
    score: null, baseline: undefined, pending: true, problem: null, // baseline: the score of the page as it was opened
    card: scoreCard(),
    list: el("ol", { class: "carousels", "aria-label": "Carousels", "aria-describedby": "keys" }),
    ideal: el("ol", { class: "carousels" }),
    heading: el("h2"),
  };
  board.redraw = () => drawRows(board);
  board.toIdeal = button("★ Rearrange to ideal", "to-ideal main", () => rearrange(board));
  board.reset = button("Reset", "reset", () => edit(board, board.page.rows));
  board.element = section(board);
  allowDragging(board);
  allowKeys(board);
  return board;
}

const button = (text, name, onclick) => el("button", { type: "button", class: name, onclick }, text);

function section(board) {
  const { card } = board;
  const summary = el("summary", {}, el("h3", {}, "Ideal page"));
  board.idealBox = el("details", { class: "ideal", open: true }, summary, board.ideal);
  const line = { class: "score-line", role: "status", "aria-atomic": "true" };
  return el(
    "section", { class: "board", "data-system": board.system },
    el("div", { class: "score-card" },
      el("div", { class: "score-head" },
        board.heading,
        el("p", line, card.metric, " ", card.number, " ", card.change),
        card.ideal),
      card.bar, card.legend, card.notes),
    el("div", { class: "bar actions" },
      board.toIdeal, board.reset, el("span", { class: "space" }),
      button("Layout .csv", "export-layout", () => exportLayout(board)),
      button("Drawing .svg", "export-drawing", () => download(drawingFile(board), `${fileName(board)}.svg`))),
    el("h3", { class: "unseen" }, "Carousels"),
    board.list,
    board.idealBox,
  );
}

export function drawBoard(board) {
  const { page } = board;
  const several = state.info.systems.length > 1;
  const name = several ? `${state.info.systems[board.system].name} · ` : "";
  board.heading.textContent = `${name}${page.user}${page.page === null ? "" : ` · ${page.page}`}`;
  drawRows(board);
  drawOutcome(board);
}

export function drawOutcome(board) {
  drawScore(board);
  drawIdeal(board);
  const metric = state.info.metrics.find(({ name }) => name === state.choices.metric);
  board.toIdeal.disabled = metric.ideal !== "category" || !board.score?.ideal_cells.length;
  board.toIdeal.title = metric.ideal === "category"
    ? "Show the best page that these judgments allow"
    : "Only N2DCG_cat has an ideal that is a page of carousels";
  board.reset.disabled = sameRows(board.rows, board.page.rows);
}

async function rearrange(board) {
  const before = board.rows;
  try {
    const answer = await post("ideal", question(board));
    if (board.rows !== before) return; // it was edited in the meantime
    learnNames(answer);
    edit(board, answer.rows);
    say("Rearranged to the ideal page.");
  } catch (error) {
    emit("problem", error.message);
  }
}

async function exportLayout(board) {
  try {
    download(await post("layout", question(board)), `${fileName(board)}.csv`);
  } catch (error) {
    emit("problem", error.message);
  }
}

function fileName(board) {
  const { user, page } = board.page;
  const parts = [state.info.systems[board.system].name, user, page].filter((part) => part !== null);
  return parts.join("-").replace(/[^\w.-]+/g, "_").slice(0, 80) || "layout";
}
