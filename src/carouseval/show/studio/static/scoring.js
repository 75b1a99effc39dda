// Asks for scores and weights whenever rows or choices change. The page is drawn before the answer is there, and an
// answer to an older question is dropped.

import { post } from "./api.js";
import { throttled } from "./dom.js";
import { sameRows } from "./moves.js";
import { emit, learnNames, state } from "./store.js";

export function question(board, rows = board.rows) {
  return { data: state.info.data, system: board.system, code: board.page.code, rows, choices: state.choices };
}

const ask = new WeakMap(); // a throttled function for each board

export function requestScore(board) {
  board.asked = (board.asked ?? 0) + 1;
  board.pending = true;
  emit("score", board);
  if (!ask.has(board)) ask.set(board, throttled(score));
  ask.get(board)(board);
}

async function score(board) {
  const number = board.asked;
  const isLatest = () => number === board.asked && state.boards.includes(board);
  try {
    const wantsBaseline = board.baseline === undefined && !sameRows(board.rows, board.page.rows);
    const [now, opened] = await Promise.all([
      post("score", question(board)),
      wantsBaseline ? post("score", question(board, board.page.rows)) : null,
    ]);
    if (!isLatest()) return;
    learnNames(now);
    board.score = now;
    if (sameRows(board.rows, board.page.rows)) board.baseline = now.score;
    else if (opened) board.baseline = opened.score;
    board.problem = null;
  } catch (error) {
    if (!isLatest()) return;
    board.problem = error.message;
    board.score = null;
    if (error.status === 409) emit("stale");
  }
  board.pending = false;
  emit("score", board);
}

let asked = 0;

async function weights() {
  const number = (asked += 1);
  const [board] = state.boards;
  if (!board) return;
  try {
    const { data, system, code, choices } = question(board);
    const answer = await post("weights", { data, system, code, choices });
    if (number !== asked) return;
    state.weights = answer.weights;
    state.largestWeight = Math.max(...(answer.weights ?? [[1]]).flat());
    state.metricName = answer.metric;
    state.screen = answer.screen;
    emit("weights");
  } catch (error) {
    if (number === asked) emit("no weights", error.message);
  }
}

const askWeights = throttled(weights);

// Choices changed: everything is scored again, also the page as it was opened.
export function rescore() {
  askWeights();
  for (const board of state.boards) {
    board.baseline = undefined;
    requestScore(board);
  }
}
