// Questions to the server. Every number on the page comes from here.

export class Refusal extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

async function answer(response) {
  const isJson = (response.headers.get("content-type") ?? "").startsWith("application/json");
  const content = isJson ? await response.json() : await response.blob();
  if (!response.ok) throw new Refusal(content.error ?? `The server answered ${response.status}.`, response.status);
  return content;
}

async function request(path, options) {
  try {
    return await answer(await fetch(path, options));
  } catch (error) {
    if (error instanceof Refusal || error.name === "AbortError") throw error;
    throw new Refusal("The studio does not answer. Is it still running in the terminal?", 0);
  }
}

export function get(path, query = {}, signal = undefined) {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined);
  return request(`api/${path}?${new URLSearchParams(given)}`, { signal });
}

export function post(path, content, signal = undefined) {
  const headers = { "content-type": "application/json" };
  return request(`api/${path}`, { method: "POST", headers, body: JSON.stringify(content), signal });
}

export function upload(table, file) {
  const query = new URLSearchParams({ table, name: file.name });
  const headers = { "content-type": "application/octet-stream" };
  return request(`api/upload?${query}`, { method: "POST", headers, body: file });
}
