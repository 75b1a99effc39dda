// Moving items and rows with the keyboard: Space picks up and drops, arrows move, Escape puts back. Without anything
// held, arrows go from item to item.

import { say } from "./dom.js";
import { focusAt, placeOf } from "./board.js";
import { preview } from "./drag.js";
import { edit, nameAt, show } from "./store.js";

const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

export function allowKeys(board) {
  let base = null, from = null;

  const name = () => nameAt(base, from);

  function pickUp(place) {
    [base, from, board.held] = [board.rows, place, place];
    board.redraw();
    say(`Picked up ${name()}. Arrow keys move it, Space drops it, Escape puts it back.`);
  }

  function drop(keep) {
    const { held, rows } = board;
    const place = keep ? held : from;
    const text = `${keep ? "Dropped" : "Put back"} ${name()}, ${where(place)}.`;
    board.held = null;
    if (keep) edit(board, rows, base);
    else show(board, base);
    base = from = null;
    board.redraw();
    focusAt(board, place.row, place.col);
    say(text);
  }

  function move([down, right]) {
    const to = { row: board.held.row + down, col: board.held.col === null ? null : board.held.col + right };
    if (to.row < 0 || to.row >= base.length || (to.col !== null && to.col < 0)) return;
    const { rows, held } = preview(board, base, from, to);
    board.held = held;
    show(board, rows);
    board.redraw();
    focusAt(board, held.row, held.col);
    say(where(held));
  }

  board.list.addEventListener("keydown", (event) => {
    const target = event.target.closest("button.tile, .handle");
    if (!target || board.dragging || event.ctrlKey || event.metaKey || event.altKey) return;
    const place = placeOf(target);
    const step = STEPS[event.key];
    if (event.key === " " || event.key === "Enter") {
      if (from) drop(true);
      else pickUp(place);
    } else if (event.key === "Escape" && from) {
      drop(false);
    } else if (step && from) {
      move(step);
    } else if (step) {
      walk(board, place, step);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  });

  board.list.addEventListener("focusout", (event) => {
    const stays = event.relatedTarget && board.list.contains(event.relatedTarget);
    if (from && !stays && event.relatedTarget) drop(true); // the focus went elsewhere: what was moved stays
  });
}

const where = (place) => `row ${place.row + 1}${place.col === null ? "" : `, column ${place.col + 1}`}`;

// The columns of a row that hold items: pages may have gaps, and rows without any item.
const columns = ({ items }) => items.flatMap((item, col) => (item === null ? [] : [col]));

function walk(board, place, [down, right]) {
  const { rows } = board;
  if (right) {
    const stops = [null, ...columns(rows[place.row])]; // the grip of the row comes first
    const stop = stops[stops.indexOf(place.col) + right];
    if (stop !== undefined) focusAt(board, place.row, stop);
    return;
  }
  let row = place.row + down;
  while (place.col !== null && rows[row] && !columns(rows[row]).length) row += down;
  if (!rows[row]) return;
  const distance = (col) => Math.abs(col - place.col);
  const nearer = (one, other) => (distance(other) < distance(one) ? other : one);
  focusAt(board, row, place.col === null ? null : columns(rows[row]).reduce(nearer));
}
