// The weights of a screen as a grid: darker cells count more, a ring marks where the page has relevant items.

import { el, svg } from "./dom.js";
import { isRelevant, state } from "./store.js";

const SIZE = 20, GAP = 2, LEFT = 20, TOP = 16;

export function heatmap() {
  const { weights, screen, boards } = state;
  if (!weights) return el("p", { class: "quiet" }, "This metric reads items in order; cells have no weights of their own.");
  const rows = weights.length, cols = weights[0].length;
  const flat = weights.flat();
  const low = Math.min(...flat), high = Math.max(...flat);
  const box = { width: SIZE - GAP, height: SIZE - GAP, rx: 3 };
  const cells = weights.flatMap((row, i) =>
    row.map((weight, j) =>
      svg(
        "rect",
        { class: "heat", x: LEFT + j * SIZE, y: TOP + i * SIZE, ...box, "fill-opacity": opacity(weight, low, high) },
        svg("title", {}, `row ${i + 1}, column ${j + 1}: ${weight.toPrecision(4)}`),
      ),
    ),
  );
  const [lowest, highest, first] = [low, high, weights[0][0]].map((weight) => weight.toPrecision(3));
  const label = `Weights of ${rows} rows and ${cols} columns, from ${lowest} to ${highest}; the first cell has ${first}.`;
  const viewBox = `0 0 ${LEFT + cols * SIZE} ${TOP + rows * SIZE}`;
  const drawing = svg(
    "svg", { viewBox, class: "heatmap", role: "img", "aria-label": label },
    ...numbers(rows, cols), ...cells, ...borders(rows, cols, screen), ...rings(boards[0], rows, cols),
  );
  const legend = el(
    "p", { class: "heat-legend quiet" },
    el("span", {}, lowest), el("span", { class: "ramp", "aria-hidden": "true" }), el("span", {}, highest),
    el("span", { class: "ring-note" }, "○ relevant item"),
  );
  return el("div", {}, drawing, legend);
}

const opacity = (weight, low, high) => (0.06 + 0.94 * (high > low ? (weight - low) / (high - low) : 1)).toFixed(3);

function numbers(rows, cols) {
  const text = (x, y, value) => svg("text", { x, y, class: "axis" }, String(value));
  const every = (count) => (count > 40 ? 10 : count > 18 ? 5 : 1);
  const shown = (index, count) => index === 0 || (index + 1) % every(count) === 0;
  const indices = (count) => Array.from({ length: count }, (_, index) => index).filter((index) => shown(index, count));
  const across = indices(cols).map((j) => text(LEFT + j * SIZE + (SIZE - GAP) / 2, TOP - 5, j + 1));
  const down = indices(rows).map((i) => text(LEFT / 2 - 1, TOP + i * SIZE + SIZE / 2 + 3, i + 1));
  return [...across, ...down];
}

function borders(rows, cols, screen) {
  const lines = [];
  for (let i = 0; i < rows; i += 1) {
    const size = screen.page_sizes[i] ?? screen.page_size;
    for (let j = size; j < cols; j += size) {
      const x = LEFT + j * SIZE - GAP / 2;
      const top = TOP + i * SIZE - GAP / 2;
      lines.push(svg("line", { class: "swipe-line", x1: x, x2: x, y1: top, y2: top + SIZE }));
    }
  }
  if (screen.visible_rows < rows) {
    const y = TOP + screen.visible_rows * SIZE - GAP / 2;
    lines.push(svg("line", { class: "fold-line", x1: LEFT, x2: LEFT + cols * SIZE, y1: y, y2: y }));
  }
  return lines;
}

function rings(board, rows, cols) {
  const marks = [];
  board.rows.forEach((row, i) =>
    row.items.forEach((item, j) => {
      if (item === null || i >= rows || j >= cols || !isRelevant(board, item)) return;
      const center = (SIZE - GAP) / 2;
      marks.push(svg("circle", { class: "ring", cx: LEFT + j * SIZE + center, cy: TOP + i * SIZE + center, r: 5 }));
    }),
  );
  return marks;
}
