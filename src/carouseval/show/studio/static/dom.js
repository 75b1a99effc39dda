// Elements. Text is always set as text, never parsed: ids and titles may hold anything.

export const byId = (id) => document.getElementById(id);

export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name.startsWith("--")) element.style.setProperty(name, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

// Sets a text only where it changes, so that screen readers do not read it again.
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function say(text) {
  byId("said").textContent = text;
}

export function showProblem(text) {
  const problem = byId("problem");
  problem.textContent = text ?? "";
  problem.hidden = !text;
}

export function download(blob, name) {
  const link = el("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// Calls a function at most once per interval, the last time with the latest arguments.
export function throttled(run, interval = 40) {
  let timer = null, due = 0;
  return (...given) => {
    clearTimeout(timer);
    const wait = due - performance.now();
    const go = () => {
      due = performance.now() + interval;
      run(...given);
    };
    if (wait <= 0) go();
    else timer = setTimeout(go, wait);
  };
}
