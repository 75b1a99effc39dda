// The view as the part of the address after #, so that a link shows the same. Items of the page are named by their
// place on it as it was opened, others (of an ideal page) by their code; small letters are digits, capitals are marks.

const RADIX = 36;

export function encodeView(view) {
  const query = new URLSearchParams();
  const set = (name, value) => value !== null && value !== undefined && value !== "" && query.set(name, value);
  set("user", view.user);
  set("page", view.page);
  set("system", view.system ? view.system : null);
  set("compare", view.compare ? 1 : null);
  const { metric, discount, parameters, cutoff, gain, candidates, screen } = view.choices;
  set("metric", metric);
  set("discount", discount);
  set("parameters", Object.entries(parameters).map(([name, value]) => `${name}:${value}`).join(","));
  set("cutoff", Array.isArray(cutoff) ? cutoff.join("x") : cutoff);
  set("gain", gain);
  set("candidates", candidates);
  set("screen", screen && [screen.rows, screen.cols, screen.page_size, screen.visible_rows].join("x"));
  view.edits.forEach((edit, at) => set(`edit${at}`, edit));
  return query.toString();
}

export function decodeView(hash) {
  const query = new URLSearchParams(hash.replace(/^#/, ""));
  const sizes = (text) => (text ? text.split("x").map(Number) : null);
  const choices = {};
  for (const name of ["metric", "discount", "gain", "candidates"]) {
    if (query.has(name)) choices[name] = query.get(name);
  }
  if (query.has("parameters")) {
    const pairs = query.get("parameters").split(",").map((pair) => pair.split(":"));
    choices.parameters = Object.fromEntries(pairs.map(([name, value]) => [name, Number(value)]));
  }
  if (query.has("metric")) {
    const cutoff = sizes(query.get("cutoff"));
    choices.cutoff = cutoff && (cutoff.length > 1 ? cutoff : cutoff[0]);
    const screen = sizes(query.get("screen"));
    const [rows, cols, page_size, visible_rows] = screen ?? [];
    choices.screen = screen && { rows, cols, page_size, visible_rows };
  }
  return {
    user: query.get("user"),
    page: query.get("page"),
    system: Number(query.get("system") ?? 0) || 0,
    compare: query.get("compare") === "1",
    choices,
    edits: [query.get("edit0"), query.get("edit1")],
  };
}

// Each row: the row of the opened page that it was (or C and the code of its category, P if pinned), then its items
// unless they are those of that row.
export function encodeRows(rows, opened) {
  const places = new Map();
  const cells = opened.flatMap((row) => row.items);
  cells.forEach((item, at) => item !== null && !places.has(item) && places.set(item, at));
  const text = rows.map((row) => {
    const same = (other) => other.category === row.category && other.pinned === row.pinned;
    const unchanged = opened.findIndex((other) => same(other) && other.items.join() === row.items.join());
    if (unchanged >= 0) return unchanged.toString(RADIX);
    const source = opened.findIndex(same);
    const category = row.category === null ? "" : row.category.toString(RADIX);
    const head = source >= 0 ? source.toString(RADIX) : `${row.pinned ? "P" : "C"}${category}`;
    const items = row.items.map((item) => {
      if (item === null) return "_";
      return places.has(item) ? places.get(item).toString(RADIX) : `I${item.toString(RADIX)}`;
    });
    return `${head}-${items.join(".")}`;
  });
  return text.join("~");
}

export function decodeRows(text, opened) {
  const cells = opened.flatMap((row) => row.items);
  return text.split("~").map((part) => {
    const [head, tail] = part.split("-");
    let row;
    if (head[0] === "C" || head[0] === "P") {
      const category = head.length > 1 ? parseInt(head.slice(1), RADIX) : null;
      row = { category, pinned: head[0] === "P", items: [] };
    } else {
      row = opened[parseInt(head, RADIX)];
    }
    if (!row) throw new RangeError("the link names a row that the page does not have");
    if (tail === undefined) return row;
    const items = tail.split(".").filter((item) => item !== "").map((item) => {
      if (item === "_") return null;
      const code = item[0] === "I" ? parseInt(item.slice(1), RADIX) : cells[parseInt(item, RADIX)];
      if (!Number.isInteger(code)) throw new RangeError("the link names an item that the page does not have");
      return code;
    });
    return { ...row, items };
  });
}
