// Moves of items and rows. Rows are never changed: every move gives new ones, so that undo can keep the old.

const replaced = (list, at, value) => list.map((entry, index) => (index === at ? value : entry));

function reordered(list, from, to) {
  const rest = list.filter((_, index) => index !== from);
  return [...rest.slice(0, to), list[from], ...rest.slice(to)];
}

function trimmed(items) {
  let end = items.length;
  while (end > 0 && items[end - 1] === null) end -= 1;
  return items.slice(0, end);
}

// Inside a row, items between the two places move up. In another row two items change places, so that rows keep their
// length; beyond the last item of a row, the item is added there.
export function moveItem(rows, from, to, cols) {
  const source = rows[from.row], target = rows[to.row];
  if (from.row === to.row) {
    const col = Math.min(to.col, source.items.length - 1);
    return replaced(rows, from.row, { ...source, items: reordered(source.items, from.col, col) });
  }
  const item = source.items[from.col];
  if (to.col >= target.items.length) {
    if (target.items.length >= cols) return rows;
    const without = source.items.filter((_, col) => col !== from.col);
    if (without.every((other) => other === null)) return rows; // an empty row is no carousel
    const moved = replaced(rows, from.row, { ...source, items: trimmed(without) });
    return replaced(moved, to.row, { ...target, items: [...target.items, item] });
  }
  const moved = replaced(rows, from.row, { ...source, items: replaced(source.items, from.col, target.items[to.col]) });
  return replaced(moved, to.row, { ...target, items: replaced(target.items, to.col, item) });
}

export function moveRow(rows, from, to) {
  return reordered(rows, from, Math.max(0, Math.min(to, rows.length - 1)));
}

// Where an item is after it was moved: rows give way at their ends.
export function landing(rows, from, to) {
  const length = rows[to.row].items.length;
  return { row: to.row, col: Math.min(to.col, from.row === to.row ? length - 1 : length) };
}

export const sameRows = (one, other) => one === other || JSON.stringify(one) === JSON.stringify(other);

export const extent = (rows) => ({
  rows: rows.length,
  cols: Math.max(0, ...rows.map((row) => row.items.length)),
});
