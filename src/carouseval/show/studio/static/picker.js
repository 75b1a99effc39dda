// Finds pages by their ids, on the server: there may be a hundred thousand of them.

import { get } from "./api.js";
import { byId, el, throttled } from "./dom.js";
import { emit, state } from "./store.js";

const AT_ONCE = 25;
let found = [], total = 0, active = -1, asked = 0, text = "", answered = null;

const pageText = (page) => (page.page === null ? page.user : `${page.user} · ${page.page}`);

async function search(offset = 0) {
  const number = (asked += 1);
  const query = { data: state.info.data, system: state.boards[0]?.system ?? 0, text, offset, limit: AT_ONCE };
  try {
    const answer = await get("pages", query);
    if (number !== asked) return;
    found = offset ? [...found, ...answer.pages] : answer.pages;
    total = answer.total;
    answered = query.text;
    if (!offset) active = -1;
    draw();
  } catch (error) {
    emit("problem", error.message);
  }
}

function draw() {
  const list = byId("found");
  list.replaceChildren(
    ...found.map((page, at) =>
      el("li", { role: "option", id: `found-${at}`, "aria-selected": String(at === active), onpointerdown: (event) => {
        event.preventDefault();
        pick(page);
      } }, pageText(page)),
    ),
  );
  const [some, all] = [found.length, total].map((count) => count.toLocaleString("en"));
  byId("found-count").textContent = total ? `${some} of ${all} pages` : "No page has this in its ids.";
  const input = byId("find");
  input.setAttribute("aria-activedescendant", active >= 0 ? `found-${active}` : "");
  list.children[active]?.scrollIntoView({ block: "nearest" });
}

function toggle(open) {
  document.querySelector(".popup").hidden = !open;
  byId("find").setAttribute("aria-expanded", String(open));
}

function pick(page) {
  toggle(false);
  emit("pick", page);
}

// What is marked, else the first page found; what was just typed is searched for first.
async function pickActive() {
  if (answered !== text) await search();
  if (answered === text && found.length) pick(found[Math.max(0, active)]);
}

export function showPicked(page) {
  byId("find").value = pageText(page);
}

// The page before or after the one that is shown, in the order of the table.
async function neighbour(step) {
  const page = state.boards[0]?.page;
  if (!page) return;
  try {
    emit("pick", await get("page", { data: state.info.data, system: page.system, code: page.code, step }));
  } catch (error) {
    emit("problem", error.message);
  }
}

export function startPicker() {
  const input = byId("find");
  const searchSoon = throttled(() => search(), 120);
  input.addEventListener("focus", () => {
    input.select();
    text = "";
    toggle(true);
    search();
  });
  input.addEventListener("input", () => {
    text = input.value.trim();
    toggle(true);
    searchSoon();
  });
  input.addEventListener("blur", () => {
    toggle(false);
    if (state.boards[0]) showPicked(state.boards[0].page);
  });
  input.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      toggle(true);
      active = Math.max(0, Math.min(found.length - 1, active + step));
      draw();
      if (active === found.length - 1 && found.length < total) search(found.length);
    } else if (event.key === "Enter") {
      pickActive();
    } else if (event.key === "Escape") {
      toggle(false);
    }
  });
  byId("found").addEventListener("scroll", (event) => {
    const list = event.target;
    const atEnd = list.scrollTop + list.clientHeight > list.scrollHeight - 40;
    if (atEnd && found.length < total) search(found.length);
  });
  byId("previous").addEventListener("click", () => neighbour("previous"));
  byId("next").addEventListener("click", () => neighbour("next"));
}
