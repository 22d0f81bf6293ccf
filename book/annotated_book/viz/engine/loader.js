// Loader of the engine: the model's script, which also loads from the file system, is asked for once for the whole page.
import { Engine } from "./engine.js";
import { html } from "../controls.js";

const FOLDER = globalThis.document?.currentScript?.src.replace(/[^/]*$/, "");

const DID_NOT_LOAD = "The model did not load.";

export function bytesOfBase64(text) {
  const symbols = atob(text), bytes = new Uint8Array(symbols.length);
  for (let i = 0; i < symbols.length; i++) bytes[i] = symbols.charCodeAt(i);
  return bytes.buffer;
}

// What a script beside the page's own sets as a global variable, which is then deleted: the engine has its own copy.
function loadData(file, name) {
  return new Promise((resolve, reject) => document.head.append(html("script", {
    src: FOLDER + file,
    onload: () => {
      const data = globalThis[name];
      delete globalThis[name];
      if (data) resolve({ ...data, bytes: bytesOfBase64(data.bytes) }); else reject(new Error(DID_NOT_LOAD)); // a file that is cut off
    },
    onerror: () => reject(new Error(DID_NOT_LOAD)),
  })));
}

// A function that loads a model once, from a script that sets `${name}Model`, and makes an engine of it, which is then
// `${name}Engine` for the whole page; after a failure the next call tries again.
export function loaderOf(file, name, make) {
  const known = `${name}Engine`;
  return () => globalThis[known] ??= loadData(file, `${name}Model`).then(make).catch(error => { delete globalThis[known]; throw error; });
}

export const loadEngine = loaderOf("model.js", "annotated", model => new Engine(model));

// The wide model, for what a reader types that the classroom model has never read: no page loads it by itself.
export const WIDE_SIZE = "6 MB"; // as servers compress it; a test weighs it
export const loadWide = loaderOf("wide.js", "annotatedWide", model => new Engine({ ...model, isWide: true }));
