// Loader of the engine: the model's script, which also loads from the file system, is asked for once for the whole page.
import { Engine } from "./engine.js";
import { html } from "../controls.js";

const MODEL = globalThis.document?.currentScript?.src.replace(/[^/]*$/, "model.js");

export function bytesOfBase64(text) {
  const symbols = atob(text), bytes = new Uint8Array(symbols.length);
  for (let i = 0; i < symbols.length; i++) bytes[i] = symbols.charCodeAt(i);
  return bytes.buffer;
}

// The engine; after a failure the next call tries again.
export function loadEngine() {
  return globalThis.annotatedEngine ??= new Promise((resolve, reject) => document.head.append(html("script", {
    src: MODEL,
    onload: () => {
      const model = globalThis.annotatedModel;
      delete globalThis.annotatedModel; // its text: the engine has its own copy
      resolve(new Engine({ ...model, bytes: bytesOfBase64(model.bytes) }));
    },
    onerror: () => { delete globalThis.annotatedEngine; reject(new Error("The model did not load.")); },
  })));
}
