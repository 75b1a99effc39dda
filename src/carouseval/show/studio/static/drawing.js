// The page as an SVG file: made of plain shapes and text, so that it opens anywhere.

import { svg } from "./dom.js";
import { pageSize } from "./board.js";
import { fixed } from "./score.js";
import { isRelevant, itemName, relevanceOf, rowName, state } from "./store.js";

const WIDTH = 84, HEIGHT = 52, GAP = 6, EDGE = 14, HEAD = 22, TOP = 64, LEFT = 16;
const INK = "#1c2430", QUIET = "#5b6675", LINE = "#c9d1db";

export function drawing(board) {
  const shapes = [];
  let width = 480, y = TOP;
  board.rows.forEach((row, index) => {
    if (index === state.screen.visible_rows) {
      shapes.push(line(LEFT, y - 4, 0, "#8a5a00", true));
    }
    const name = `${index + 1}  ${rowName(row)}${row.pinned ? " (pinned)" : ""}`;
    shapes.push(text(LEFT, y + 14, name, { "font-weight": "600", fill: INK }));
    let x = LEFT;
    row.items.forEach((item, col) => {
      if (item !== null) shapes.push(...tile(board, item, x, y + HEAD));
      x += WIDTH + GAP;
      if ((col + 1) % pageSize(index) === 0 && col + 1 < row.items.length) {
        const at = x + (EDGE - GAP) / 2;
        const [y1, y2] = [y + HEAD, y + HEAD + HEIGHT];
        shapes.push(svg("line", { x1: at, x2: at, y1, y2, stroke: QUIET, "stroke-dasharray": "3 3" }));
        x += EDGE;
      }
    });
    width = Math.max(width, x + LEFT);
    y += HEAD + HEIGHT + 12;
  });
  for (const shape of shapes) if (shape.dataset.wide) shape.setAttribute("x2", width - LEFT);
  const { page, score } = board;
  const title = `${state.info.systems[board.system].name}: ${page.user}${page.page === null ? "" : ` ${page.page}`}`;
  return svg(
    "svg",
    { viewBox: `0 0 ${width} ${y}`, width, height: y, "font-family": "system-ui, sans-serif", "font-size": "12" },
    svg("title", {}, title),
    svg("rect", { width, height: y, fill: "#ffffff" }),
    text(LEFT, 26, title, { "font-size": "16", "font-weight": "600", fill: INK }),
    text(LEFT, 46, `${state.metricName ?? ""} ${fixed(score?.score ?? null)}   ★ relevant`, { fill: QUIET }),
    ...shapes,
  );
}

const text = (x, y, content, attributes) => svg("text", { x, y, ...attributes }, content);

function line(x, y, x2, stroke, wide) {
  const shape = svg("line", { x1: x, x2, y1: y, y2: y, stroke, "stroke-dasharray": "6 4" });
  if (wide) shape.dataset.wide = "1";
  return shape;
}

function tile(board, item, x, y) {
  const relevant = isRelevant(board, item);
  const box = svg("rect", {
    x, y, width: WIDTH, height: HEIGHT, rx: 5, fill: relevant ? "#fdf0cf" : "#f3f5f8",
    stroke: relevant ? "#8a5a00" : LINE, "stroke-width": relevant ? 2 : 1,
  });
  const words = lines(itemName(item), 13);
  const bold = { "font-size": "10", "font-weight": "600", fill: "#6b4600" };
  const marks = relevant ? [text(x + 6, y + 14, `★ ${relevanceOf(board, item)}`, bold)] : [];
  const top = y + (relevant ? 28 : 20);
  return [box, ...marks, ...words.map((word, at) => text(x + 6, top + 13 * at, word, { "font-size": "11", fill: INK }))];
}

// At most two lines of some characters each.
function lines(name, longest) {
  const words = name.split(/\s+/);
  let first = words.shift() ?? "";
  while (words.length && `${first} ${words[0]}`.length <= longest) first += ` ${words.shift()}`;
  const cut = (part) => (part.length > longest ? `${part.slice(0, longest - 1)}…` : part);
  return [first, words.join(" ")].filter(Boolean).map(cut);
}

export function drawingFile(board) {
  return new Blob([new XMLSerializer().serializeToString(drawing(board))], { type: "image/svg+xml" });
}
