// The dialog to open other tables.

import { post, upload } from "./api.js";
import { byId } from "./dom.js";
import { emit } from "./store.js";

const NAMES = ["layouts", "judgments", "items", "other"];

function problem(text) {
  const place = byId("tables-problem");
  place.textContent = text;
  place.hidden = !text;
}

async function open(collect) {
  const dialog = byId("tables");
  const buttons = [...dialog.querySelectorAll("button")];
  problem("");
  for (const button of buttons) button.disabled = true;
  dialog.setAttribute("aria-busy", "true");
  try {
    const info = await post("open", await collect());
    dialog.close();
    for (const input of dialog.querySelectorAll("input")) input.value = "";
    emit("opened", info);
  } catch (error) {
    problem(error.message);
  }
  dialog.removeAttribute("aria-busy");
  for (const button of buttons) button.disabled = false;
}

async function uploadFiles() {
  const content = { source: "upload" };
  for (const name of NAMES) {
    const [file] = byId("tables").querySelector(`[name=${name}]`).files;
    if (file) content[name] = (await upload(name, file)).key;
  }
  return content;
}

export function startTables() {
  byId("open").addEventListener("click", () => {
    problem("");
    byId("tables").showModal();
  });
  byId("open-cancel").addEventListener("click", () => byId("tables").close());
  byId("open-files").addEventListener("click", () => open(uploadFiles));
  byId("open-sample").addEventListener("click", () => open(async () => ({ source: "sample" })));
  byId("open-start").addEventListener("click", () => open(async () => ({ source: "start" })));
}
