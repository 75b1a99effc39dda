// Moving items and rows with a mouse, pen or finger. While something is held, the page shows where it would land.

import { el } from "./dom.js";
import { elementAt, placeOf } from "./board.js";
import { edit, nameAt, show, state } from "./store.js";
import { landing, moveItem, moveRow } from "./moves.js";

const FAR = 5; // pixels before a press becomes a drag
const LONG = 280; // milliseconds before a touch picks an item up: shorter ones scroll
const MARGIN = 48; // pixels from an edge where dragging scrolls

export function preview(board, base, from, to) {
  if (from.col === null) {
    const row = Math.max(0, Math.min(to.row, base.length - 1));
    return { rows: moveRow(base, from.row, row), held: { row, col: null } };
  }
  const rows = moveItem(base, from, to, state.screen.cols);
  return { rows, held: rows === base ? from : landing(base, from, to) };
}

export function allowDragging(board) {
  board.list.addEventListener("pointerdown", (event) => {
    const target = event.target.closest("button.tile, .handle");
    if (!target || event.button !== 0 || board.held) return;
    if (event.pointerType === "mouse") event.preventDefault(); // no selection of text
    target.focus({ preventScroll: true });
    const drag = new Drag(board, target, event);
    drag.listen();
  });
}

class Drag {
  constructor(board, target, event) {
    this.board = board;
    this.target = target;
    this.start = { x: event.clientX, y: event.clientY };
    this.pointer = event.pointerId;
    this.isTouch = event.pointerType === "touch";
    this.from = placeOf(target);
    this.base = board.rows;
    this.active = false;
    this.stop = new AbortController();
    if (this.isTouch) this.timer = setTimeout(() => this.begin(this.start), LONG);
  }

  listen() {
    const { signal } = this.stop;
    const on = (name, run, where = window) => where.addEventListener(name, run, { signal, passive: false });
    on("pointermove", (event) => event.pointerId === this.pointer && this.move(event));
    on("pointerup", (event) => event.pointerId === this.pointer && this.end(true));
    on("pointercancel", (event) => event.pointerId === this.pointer && this.end(false));
    on("keydown", (event) => event.key === "Escape" && this.end(false));
    on("blur", () => this.end(false));
    // a finger that holds an item must not scroll; touch events stay with the element, even when it is redrawn
    on("touchmove", (event) => this.active && event.preventDefault(), this.target);
    on("contextmenu", (event) => this.active && event.preventDefault());
  }

  begin({ x, y }) {
    const { board, from } = this;
    this.active = true;
    board.dragging = true;
    board.held = from;
    this.ghost = el("div", { class: "ghost", "aria-hidden": "true" }, nameAt(this.base, from));
    document.body.append(this.ghost);
    document.body.classList.add("dragging");
    this.follow(x, y);
    board.redraw();
    this.scroller = setInterval(() => this.scroll(), 16);
  }

  move(event) {
    const { clientX: x, clientY: y } = event;
    const far = Math.hypot(x - this.start.x, y - this.start.y) > FAR;
    if (!this.active) {
      if (!far) return;
      if (this.isTouch) {
        this.end(false); // it scrolls
        return;
      }
      this.begin({ x, y });
    }
    event.preventDefault();
    this.follow(x, y);
    this.at = { x, y };
    this.aim();
  }

  follow(x, y) {
    this.ghost.style.setProperty("--x", `${x}px`);
    this.ghost.style.setProperty("--y", `${y}px`);
  }

  aim() {
    const { x, y } = this.at;
    const carousel = document.elementFromPoint(x, y)?.closest(".carousel");
    if (!carousel || carousel.parentElement !== this.board.list) return;
    const row = Number(carousel.dataset.row);
    this.show({ row, col: this.from.col === null ? null : columnAt(carousel, x) });
  }

  show(to) {
    const { rows, held } = preview(this.board, this.base, this.from, to);
    const same = held.row === this.board.held.row && held.col === this.board.held.col;
    this.board.held = held;
    show(this.board, rows);
    if (!same) this.board.redraw();
  }

  scroll() {
    if (!this.at) return;
    const { x, y } = this.at;
    const speed = (distance) => (distance < MARGIN ? Math.ceil((MARGIN - distance) / 4) : 0);
    window.scrollBy(0, speed(window.innerHeight - y) - speed(y));
    const track = document.elementFromPoint(x, y)?.closest(".track");
    if (!track || this.from.col === null) return;
    const box = track.getBoundingClientRect();
    const step = speed(box.right - x) - speed(x - box.left);
    if (step && track.scrollWidth > track.clientWidth) {
      track.scrollLeft += step;
      this.aim();
    }
  }

  end(dropped) {
    clearTimeout(this.timer);
    clearInterval(this.scroller);
    this.stop.abort();
    if (!this.active) return;
    const { board, base, from } = this;
    const { rows, held } = board;
    this.ghost.remove();
    document.body.classList.remove("dragging");
    board.held = null;
    board.dragging = false;
    if (dropped) edit(board, rows, base);
    else show(board, base);
    board.redraw();
    const place = dropped ? held : from;
    elementAt(board, place.row, place.col)?.focus({ preventScroll: true });
  }
}

// The column under the pointer; past the last item, the next one.
function columnAt(carousel, x) {
  const cells = [...carousel.querySelectorAll(".cell")];
  const before = cells.filter((cell) => cell.getBoundingClientRect().right <= x).length;
  return before;
}
