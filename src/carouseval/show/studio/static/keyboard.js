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

function walk(board, place, [down, right]) {
  if (place.col === null && right > 0) {
    focusAt(board, place.row, 0);
    return;
  }
  if (place.col === 0 && right < 0) {
    focusAt(board, place.row, null);
    return;
  }
  const row = place.row + down;
  if (row < 0 || row >= board.rows.length) return;
  if (place.col === null) {
    focusAt(board, row, null);
    return;
  }
  const { items } = board.rows[row];
  let col = Math.min(place.col + right, items.length - 1);
  while (col > 0 && col < items.length - 1 && items[col] === null) col += right || -1;
  focusAt(board, row, col);
}
