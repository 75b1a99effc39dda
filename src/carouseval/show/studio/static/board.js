// A page drawn as carousels: one list per row, one button per item.

import { el } from "./dom.js";
import { isRelevant, itemName, relevanceOf, rowName, state } from "./store.js";

export function pageSize(row) {
  const sizes = state.screen?.page_sizes ?? [];
  return sizes[Math.min(row, sizes.length - 1)] ?? 5;
}

function weightAt(row, col) {
  const { weights } = state;
  if (!weights?.[row]) return null;
  return weights[row][col] ?? null;
}

function label(board, row, col, item) {
  const relevance = relevanceOf(board, item);
  const mark = isRelevant(board, item) ? `, relevant, ${relevance}` : "";
  return `${itemName(item)}${mark}; row ${row + 1}, column ${col + 1}`;
}

function poster(item) {
  if (!state.items.get(item)?.poster) return null;
  const src = `api/poster?data=${state.info.data}&item=${item}`;
  return el("img", { src, alt: "", loading: "lazy", draggable: "false" });
}

function weightBar(weight) {
  if (weight === null) return null;
  return el("span", { class: "weight", "--share": weight / (state.largestWeight || 1), "aria-hidden": "true" });
}

function tile(board, row, col, item, held, outside) {
  const weight = weightAt(row, col);
  const cell = (content) => {
    const last = (col + 1) % pageSize(row) === 0; // of its swipe page
    return el("li", { class: `cell${last ? " edge" : ""}` }, content, weightBar(weight));
  };
  if (item === null) return cell(el("span", { class: "tile gap" }));
  const relevant = isRelevant(board, item);
  const isHeld = held?.row === row && held.col === col;
  const classes = ["tile", relevant && "relevant", isHeld && "held", outside && "outside"].filter(Boolean).join(" ");
  const name = itemName(item);
  const note = outside ? "; not in the category of this row" : "";
  const share = weight === null ? "" : ` Weight ${weight.toPrecision(3)}.`;
  const button = el(
    "button",
    {
      type: "button", class: classes, tabindex: "-1", "data-row": row, "data-col": col,
      "aria-label": label(board, row, col, item) + note, "aria-pressed": String(isHeld),
      title: `${name}${state.items.get(item)?.title ? ` (${state.items.get(item).id})` : ""}.${share}`,
    },
    poster(item),
    relevant ? el("span", { class: "mark", "aria-hidden": "true" }, `★ ${relevanceOf(board, item)}`) : null,
    outside ? el("span", { class: "mark warn", "aria-hidden": "true" }, "!") : null,
    el("span", { class: "name" }, name),
  );
  return cell(button);
}

function header(board, row, index, held) {
  const relevant = row.items.filter((item) => item !== null && isRelevant(board, item)).length;
  const isHeld = held?.row === index && held.col === null;
  const name = rowName(row);
  const handle = el(
    "button",
    {
      type: "button", class: `handle${isHeld ? " held" : ""}`, "data-row": index, "aria-pressed": String(isHeld),
      "aria-label": `Move row ${index + 1}${name ? `, ${name}` : ""}`, title: "Drag to move this row",
    },
    el("span", { "aria-hidden": "true" }, "⠿"),
  );
  return el(
    "div", { class: "row-head" }, handle,
    el("h4", {}, el("span", { class: "number" }, String(index + 1)), ` ${name || "(no category)"}`),
    row.pinned ? el("span", { class: "pin" }, "pinned") : null,
    el("span", { class: "quiet" }, relevant ? `★ ${relevant} relevant` : "none relevant"),
  );
}

// Draws the rows that changed since the last time; others keep their elements, and how far they are scrolled.
export function drawRows(board) {
  const { list, held } = board;
  list.classList.toggle("posters", [...state.items.values()].some((item) => item.poster));
  const outside = new Set((board.score?.outside ?? []).map(([row, col]) => `${row},${col}`));
  const focus = list.contains(document.activeElement) ? placeOf(document.activeElement) : null;
  while (list.children.length > board.rows.length) list.lastChild.remove();
  board.rows.forEach((row, index) => {
    const marked = row.items.map((_, col) => outside.has(`${index},${col}`));
    const weights = row.items.map((_, col) => weightAt(index, col));
    const fold = index > 0 && index === state.screen?.visible_rows;
    const isHeld = held?.row === index ? held.col : false;
    const names = row.items.map((item) => (item === null ? "" : itemName(item)));
    const key = JSON.stringify([row, marked, weights, pageSize(index), fold, isHeld, names, board.page.code]);
    let carousel = list.children[index];
    if (!carousel) {
      carousel = el("li", { class: "carousel" }, el("div"), el("ol", { class: "track" }));
      list.append(carousel);
    }
    if (carousel.drawn === key) return;
    carousel.drawn = key;
    carousel.classList.toggle("fold", fold);
    carousel.dataset.row = index;
    const tiles = row.items.map((item, col) => tile(board, index, col, item, held, marked[col]));
    const first = tiles.map((entry) => entry.querySelector("button")).find(Boolean);
    first?.setAttribute("tabindex", "0"); // one stop of the tab key per row; arrow keys go on
    carousel.firstChild.replaceWith(header(board, row, index, held));
    const track = carousel.lastChild;
    track.setAttribute("aria-label", `Row ${index + 1}${rowName(row) ? `, ${rowName(row)}` : ""}`);
    track.replaceChildren(...tiles);
  });
  if (held) focusAt(board, held.row, held.col);
  else if (focus) focusAt(board, focus.row, focus.col);
}

// The place that an item, or the grip of a row (without a column), stands for.
export function placeOf({ dataset: { row, col } }) {
  return { row: Number(row), col: col === undefined ? null : Number(col) };
}

export function elementAt(board, row, col) {
  const place = col === null ? `.handle[data-row="${row}"]` : `button.tile[data-row="${row}"][data-col="${col}"]`;
  return board.list.querySelector(place);
}

export function focusAt(board, row, col) {
  const element = elementAt(board, row, col);
  if (!element || element === document.activeElement) return;
  if (col !== null) {
    for (const other of element.closest(".track").querySelectorAll('[tabindex="0"]')) other.tabIndex = -1;
    element.tabIndex = 0;
  }
  element.focus({ preventScroll: board.dragging });
}
