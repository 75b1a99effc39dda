// What the page knows: tables, choices, one board for each system shown, and the versions that undo goes back to.

import { sameRows } from "./moves.js";

export const state = {
  info: null, // what is open and what can be chosen, from the server
  choices: null,
  boards: [], // {system, page, rows, score, baseline, pending, problem}
  items: new Map(), // names by code
  categories: new Map(),
  weights: null,
  screen: null, // the screen in force
};

const past = [], future = [];
const listeners = new Map();

export function on(event, listener) {
  listeners.set(event, [...(listeners.get(event) ?? []), listener]);
}

export function emit(event, ...given) {
  for (const listener of listeners.get(event) ?? []) listener(...given);
}

export function learnNames({ items = {}, categories = {} }) {
  for (const [code, name] of Object.entries(items)) state.items.set(Number(code), name);
  for (const [code, name] of Object.entries(categories)) state.categories.set(Number(code), name);
}

export function itemName(code) {
  const item = state.items.get(code);
  return item ? item.title || item.id : `item ${code}`;
}

export function rowName(row) {
  return row.category === null ? "" : (state.categories.get(row.category) ?? "");
}

// What stands at a place: an item or, without a column, a row.
export function nameAt(rows, { row, col }) {
  return col === null ? rowName(rows[row]) || `row ${row + 1}` : itemName(rows[row].items[col]);
}

export const relevanceOf = (board, item) => board.page.relevance[item] ?? null;
export const isRelevant = (board, item) => (relevanceOf(board, item) ?? 0) > 0;

// Keeps the rows as a version to go back to, then changes one board.
export function edit(board, rows, before = board.rows) {
  if (sameRows(before, rows)) {
    show(board, rows);
    return;
  }
  const index = state.boards.indexOf(board);
  past.push(state.boards.map((other, at) => (at === index ? before : other.rows)));
  future.length = 0;
  show(board, rows);
  emit("history");
}

// Changes a board without keeping a version: a move that is not yet dropped.
export function show(board, rows) {
  const changed = !sameRows(board.rows, rows);
  board.rows = rows;
  if (changed) emit("rows", board);
}

function step(from, to) {
  if (!from.length || state.boards.some((board) => board.held)) return; // what is held is dropped or put back first
  const rows = from.pop();
  to.push(state.boards.map((board) => board.rows));
  state.boards.forEach((board, at) => show(board, rows[at]));
  emit("history");
}

export const undo = () => step(past, future);
export const redo = () => step(future, past);
export const canUndo = () => past.length > 0;
export const canRedo = () => future.length > 0;

export function forgetHistory() {
  past.length = future.length = 0;
  emit("history");
}
