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
    const number = el("span", { class: "number" }, String(row + 1));
    const track = { class: "track", tabindex: "0", "aria-label": `Ideal row ${row + 1}, ${name}` };
    return el(
      "li", { class: "carousel" },
      el("div", { class: "row-head" }, el("h4", {}, number, ` ${name}`)),
      el("ol", track, ...tiles),
    );
  });
  board.ideal.replaceChildren(...lines);
}

function idealTile(item, row, col, shown) {
  const place = shown.get(item);
  const stays = place && place[0] === row && place[1] === col;
  let note = "not shown", full = "not on the page";
  if (stays) [note, full] = ["in place", "already here"];
  else if (place) {
    const [now, column] = place.map((index) => index + 1);
    [note, full] = [`from ${now}.${column}`, `now in row ${now}, column ${column}`];
  }
  return el(
    "span", { class: `tile relevant${place ? "" : " absent"}`, title: `${itemName(item)}: ${full}` },
    el("span", { class: "name" }, itemName(item)), el("small", {}, note),
  );
}
