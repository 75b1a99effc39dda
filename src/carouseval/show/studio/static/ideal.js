// The ideal page beside the page: where its relevant items belong, and what the page would have to show.

import { el } from "./dom.js";
import { pageSize } from "./board.js";
import { itemName, state } from "./store.js";

export function drawIdeal(board) {
  const cells = board.score?.ideal_cells ?? [];
  board.idealBox.hidden = !cells.length;
  const shown = new Map();
  board.rows.forEach((row, at) => row.items.forEach((item, col) => item !== null && shown.set(item, [at, col])));
  const rows = new Map();
  for (const [row, col, item, category] of cells) {
    if (!rows.has(row)) rows.set(row, { category, items: new Map() });
    rows.get(row).items.set(col, item);
  }
  const lines = [...rows].sort(([one], [other]) => one - other).map(([row, { category, items }]) => {
    const last = Math.max(...items.keys());
    const tiles = Array.from({ length: last + 1 }, (_, col) => {
      const edge = (col + 1) % pageSize(row) === 0 ? " edge" : "";
      if (!items.has(col)) return el("li", { class: `cell small${edge}` }, el("span", { class: "tile gap" }));
      return el("li", { class: `cell small${edge}` }, idealTile(items.get(col), row, col, shown));
    });
    const name = category === null ? "(no category)" : (state.categories.get(category) ?? "");
    const head = el("div", { class: "row-head" }, el("h4", {}, el("span", { class: "number" }, String(row + 1)), ` ${name}`));
    const label = `Ideal row ${row + 1}, ${name}`;
    return el("li", { class: "carousel" }, head, el("ol", { class: "track", tabindex: "0", "aria-label": label }, ...tiles));
  });
  board.ideal.replaceChildren(...lines);
}

function idealTile(item, row, col, shown) {
  const place = shown.get(item);
  const stays = place && place[0] === row && place[1] === col;
  const note = !place ? "not shown" : stays ? "in place" : `from ${place[0] + 1}.${place[1] + 1}`;
  const full = !place ? "not on the page" : stays ? "already here" : `now in row ${place[0] + 1}, column ${place[1] + 1}`;
  return el(
    "span", { class: `tile relevant${place ? "" : " absent"}`, title: `${itemName(item)}: ${full}` },
    el("span", { class: "name" }, itemName(item)), el("small", {}, note),
  );
}
