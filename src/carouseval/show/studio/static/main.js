// Starts the studio: reads the address, loads what it names, and draws whatever changes.

import { decodeRows, decodeView, encodeRows, encodeView } from "./address.js";
import { get, post } from "./api.js";
import { byId, el, say, showProblem, throttled } from "./dom.js";
import { extent, sameRows } from "./moves.js";
import { showPicked, startPicker } from "./picker.js";
import { signed } from "./score.js";
import { requestScore, rescore } from "./scoring.js";
import { drawHeatmap, drawMetricPanel, drawScreenPanel, soundChoices } from "./settings.js";
import { canRedo, canUndo, forgetHistory, learnNames, on, redo, state, undo } from "./store.js";
import { startTables } from "./tables.js";
import { createBoard, drawBoard, drawOutcome } from "./view.js";

const view = { user: null, page: null, system: 0, compare: false, edits: [] }; // edits of the page, by system
const HINT = matchMedia("(pointer: coarse)").matches
  ? "Hold an item, or the grip of a row, then drag it."
  : "Drag items and rows; or focus one, press Space, and use the arrow keys.";
let written = null; // the address that we wrote ourselves
let loading = 0;
let weightsProblem = null; // shown until weights are there

async function start() {
  startPicker();
  startTables();
  try {
    takeInfo(await get("state"));
    await restore();
  } catch (error) {
    showProblem(error.message);
  }
}

function takeInfo(info) {
  state.info = info;
  state.items.clear();
  state.categories.clear();
  byId("source").textContent = info.source;
  byId("source").title = info.source;
  byId("upload-limit").textContent = info.upload_megabytes;
  const several = info.systems.length > 1;
  byId("compare-label").hidden = !several;
  byId("system-label").hidden = !several;
  byId("system").replaceChildren(...info.systems.map(({ name }, at) => el("option", { value: at }, name)));
  byId("open-start").hidden = info.source === "sample data" && info.is_start;
}

// Shows what the address names; what it leaves open is as the server has it.
async function restore() {
  const wanted = decodeView(location.hash);
  const { info } = state;
  state.choices = soundChoices(wanted.choices);
  Object.assign(view, { ...wanted, system: Math.min(wanted.system, info.systems.length - 1) });
  view.compare &&= info.systems.length > 1;
  await loadPage();
}

function keepEdits() {
  for (const { system, rows, page } of state.boards) {
    view.edits[system] = sameRows(rows, page.rows) ? null : encodeRows(rows, page.rows);
  }
}

async function loadPage() {
  const number = (loading += 1);
  const systems = view.compare ? state.info.systems.map((_, at) => at) : [view.system];
  const pages = [];
  const problems = [];
  for (const system of systems) {
    try {
      pages.push(await get("page", { data: state.info.data, system, user: view.user, page: view.page }));
      if (view.user === null) Object.assign(view, { user: pages[0].user, page: pages[0].page });
    } catch (error) {
      problems.push(error.message);
    }
  }
  if (number !== loading) return;
  showProblem(problems.join(" "));
  if (!pages.length) {
    if (view.user === null) return showNothing();
    Object.assign(view, { user: null, page: null, edits: [] }); // these tables have no page of that name
    await loadPage();
    showProblem(problems.join(" "));
    return;
  }
  pages.forEach(learnNames);
  const boards = pages.map(createBoard);
  await Promise.all(boards.map(restoreRows));
  if (number !== loading) return;
  state.boards = boards;
  fitScreen();
  byId("boards").replaceChildren(...state.boards.map((board) => board.element));
  byId("boards").classList.toggle("two", state.boards.length > 1);
  byId("compare").checked = view.compare;
  byId("system").value = String(view.system);
  byId("system").disabled = view.compare;
  state.screen = pages[0].screen;
  state.weights = undefined;
  showPicked(pages[0]);
  forgetHistory();
  drawMetricPanel();
  drawScreenPanel();
  state.boards.forEach(drawBoard);
  rescore();
  writeAddress();
}

// No page of these tables can be shown: what stands there is of other tables.
function showNothing() {
  state.boards = [];
  byId("boards").replaceChildren();
  byId("screen-panel").replaceChildren();
  byId("find").value = "";
  forgetHistory();
  drawMetricPanel();
  drawDifference();
}

// A link may show items of an ideal page, which have names that the page alone does not bring along.
async function restoreRows(board) {
  const edit = view.edits[board.system];
  if (!edit) return;
  try {
    const rows = decodeRows(edit, board.page.rows);
    const isNamed = (code, names) => code === null || names.has(code);
    const isKnown = ({ category, items }) =>
      isNamed(category, state.categories) && items.every((item) => isNamed(item, state.items));
    if (!rows.every(isKnown)) learnNames(await post("names", { data: state.info.data, rows }));
    board.rows = rows;
  } catch (error) {
    showProblem(`The link does not fit this page: ${error.message.replace(/\.$/, "")}.`);
  }
}

// A screen that was chosen for another page must hold this one too.
function fitScreen() {
  if (!state.choices.screen) return;
  const sizes = state.boards.map((board) => extent(board.rows));
  const screen = { ...state.choices.screen };
  screen.rows = Math.max(screen.rows, ...sizes.map((size) => size.rows));
  screen.cols = Math.max(screen.cols, ...sizes.map((size) => size.cols));
  state.choices = { ...state.choices, screen };
}

const writeAddress = throttled(() => {
  keepEdits();
  written = `#${encodeView({ ...view, choices: state.choices })}`;
  history.replaceState(null, "", written);
}, 150);

on("rows", (board) => {
  board.redraw();
  drawHeatmap();
  requestScore(board);
  writeAddress();
});
on("score", (board) => {
  if (!board.held) board.redraw();
  drawOutcome(board);
  drawDifference();
});
on("weights", () => {
  if (byId("problem").textContent === weightsProblem) showProblem(null);
  drawHeatmap();
  state.boards.forEach(drawBoard);
});
on("choices", writeAddress);
on("problem", showProblem);
on("no weights", (message) => {
  weightsProblem = message;
  showProblem(message);
});
on("stale", () => showProblem("Other tables were opened in the meantime. Reload the page to see them."));
on("history", () => {
  byId("undo").disabled = !canUndo();
  byId("redo").disabled = !canRedo();
  drawScreenPanel();
});
on("pick", ({ user, page }) => {
  Object.assign(view, { user, page, edits: [] });
  loadPage();
});
on("opened", (info) => {
  takeInfo(info);
  Object.assign(view, { user: null, page: null, system: 0, compare: false, edits: [] });
  state.choices = { ...info.chosen };
  loadPage();
});

function drawDifference() {
  const [first, second] = state.boards;
  const known = second && first.score?.score != null && second.score?.score != null;
  const name = (board) => state.info.systems[board.system].name;
  byId("hint").textContent = known
    ? `${name(first)} − ${name(second)}: ${signed(first.score.score - second.score.score)}`
    : HINT;
  byId("hint").classList.toggle("difference", Boolean(known));
}

byId("undo").addEventListener("click", undo);
byId("redo").addEventListener("click", redo);
byId("compare").addEventListener("change", (event) => {
  keepEdits();
  view.compare = event.target.checked;
  loadPage();
});
byId("system").addEventListener("change", (event) => {
  keepEdits();
  view.system = Number(event.target.value);
  loadPage();
});
byId("share").addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText(location.href);
    say("Link copied.");
    byId("share").textContent = "Copied";
    setTimeout(() => (byId("share").textContent = "Copy link"), 1500);
  } catch {
    showProblem("The browser did not allow copying; copy the address from its address bar.");
  }
});
window.addEventListener("keydown", (event) => {
  const isField = event.target.matches?.("input:not([type=range]):not([type=checkbox]), select, textarea");
  const key = event.key.toLowerCase();
  if (!(event.ctrlKey || event.metaKey) || isField || !["y", "z"].includes(key)) return;
  event.preventDefault();
  if (key === "y" || event.shiftKey) redo();
  else undo();
});
window.addEventListener("hashchange", () => {
  if (location.hash !== written && state.info) restore();
});

start();
