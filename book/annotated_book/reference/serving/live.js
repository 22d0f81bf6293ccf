// The server in the page: the reader writes a request, sees its checks one after the other, and gets the reply.
import { button, field, html, labelled, select, unique } from "../../viz/controls.js";
import { finish } from "../../viz/engine/engine.js";
import { loadEngine } from "../../viz/engine/loader.js";
import { livePanels, nextTask, whenWanted } from "../../viz/engine/panel.js";
import { CHECKS, bytesOfText, check, replyText, strip } from "./request.js";

const MOST_HERE = 60, PAUSE = 250; // tokens of all texts that the page itself translates; milliseconds after a key
const texts = (...list) => JSON.stringify({ texts: list }).replaceAll(",", ", ").replace(":", ": ");
// Name, content, and a length other than the content's.
export const EXAMPLES = [
  ["two sentences and an empty text", texts("The small dog sees the cat.", "", "The grandmother sells apples.")],
  ["a wrong name", '{"text": ["The small dog sees the cat."]}'],
  ["a string in place of the list", '{"texts": "The small dog sees the cat."}'],
  ["a number in the list", '{"texts": ["Yes.", 1]}'],
  ["no JSON: single quotes", "{'texts': ['The cat sleeps.']}"],
  ["half of a surrogate pair", '{"texts": ["cat \\ud83d"]}'],
  ["a sentence that is too long", texts("cat ".repeat(1000).trim())],
  ["a length that is too small", texts("The cat sleeps."), "20"],
  ["a length that is too large", texts("The cat sleeps."), "200"],
  ["two megabytes announced", texts("The cat sleeps."), "2000000"],
];

const MARKS = { passed: "✓", failed: "✗", waits: "…", open: "–" };
const SAID = { passed: "passed", failed: "failed", waits: "waits", open: "not reached" };

function lineOf(name, state, detail) {
  const mark = html("span", { className: "check-mark", "aria-hidden": "true", textContent: MARKS[state] });
  return html("li", { className: state }, mark, html("span", {}, name, html("span", { className: "live-hidden", textContent: `: ${SAID[state]}` }),
    ...(detail ? [html("small", { textContent: detail })] : [])));
}

// What each check has to say, for the list: [state, detail].
export function stateOf(found, header, given) {
  const at = found.step ?? CHECKS.length, sizes = found.lengths?.join(" + ");
  const passed = [`${header} bytes; the body has ${given}`, "", found.lengths ? `${found.lengths.length} of them` : "", "",
    found.lengths?.length ? `${sizes} tokens` : ""];
  return CHECKS.map((_, i) => i < at ? ["passed", passed[i]]
    : i > at ? ["open", ""] : found.waits ? ["waits", `for ${found.waits} bytes more, and for ever if they do not come`] : ["failed", found.error]);
}

function build(box, first, change) {
  const body = field(() => change(), { rows: 6, value: first, "aria-label": "Content of the request" });
  const length = field(() => { own.checked = true; change(); }, { type: "text", inputMode: "numeric", autocomplete: "off", size: 9 });
  const own = html("input", { type: "checkbox", id: unique("own-length") });
  own.addEventListener("change", () => change());
  const choose = name => {
    const [, content, announced] = EXAMPLES.find(one => one[0] === name);
    body.value = content;
    own.checked = announced !== undefined;
    if (announced !== undefined) length.value = announced;
    change();
  };
  const menu = select(EXAMPLES.map(([name]) => [name, name]), choose);
  const next = button("next request", () => {
    menu.selectedIndex = (menu.selectedIndex + 1) % EXAMPLES.length;
    choose(menu.value);
  });
  const list = html("ol", { className: "checks-of-request" }), reply = html("pre", { className: "wire" });
  reply.tabIndex = 0;
  const status = html("p", { className: "live-status", role: "status" });
  const wire = html("div", { className: "wire" }, html("div", {}, "POST / HTTP/1.1"),
    html("label", { className: "wire-length" }, "Content-Length: ", length), body);
  const ownLength = html("label", { className: "tick", htmlFor: own.id }, own, " a length of my own");
  box.replaceChildren(html("div", { className: "live-choices" }, labelled("request ", menu), next),
    html("div", { className: "server-sides" },
      html("div", {}, html("p", { className: "live-caption", textContent: "The request: write in it" }), wire, ownLength),
      html("div", {}, html("p", { className: "live-caption", textContent: "The server's checks, in their order" }), list)),
    html("p", { className: "live-caption", textContent: "The reply" }), reply, status);
  return { body, length, own, list, reply, status };
}

// The translations, one after the other; nothing if something else was asked for meanwhile.
async function translated(engine, found, isCurrent) {
  const made = [];
  for (const text of found.texts) {
    await nextTask();
    if (!isCurrent()) return undefined;
    made.push(strip(text) ? finish(engine.beam(strip(text), { size: 4, alpha: 0.6 }))[0].text : "");
  }
  return made;
}

function server(box) {
  const parts = build(box, EXAMPLES[0][1], () => { clearTimeout(waiting); waiting = setTimeout(run, PAUSE); });
  let waiting, number = 0, wanted = false;
  const show = (answer, said) => { parts.reply.textContent = answer ? replyText(answer) : ""; parts.status.textContent = said; };

  async function run() {
    const mine = ++number, content = bytesOfText(parts.body.value);
    if (!parts.own.checked) parts.length.value = String(content.length);
    if (!wanted) return;
    box.dataset.state = "busy";
    const engine = await loadEngine(), header = strip(parts.length.value);
    if (mine !== number) return;
    const found = check(header, content, text => engine.tokenizer.encode(text).length);
    parts.list.replaceChildren(...stateOf(found, header, content.length).map(([state, detail], i) => lineOf(CHECKS[i], state, detail)));
    await answer(engine, found, () => mine === number);
    if (mine === number) box.dataset.state = "done";
  }
  async function answer(engine, found, isCurrent) {
    if (found.waits) return show(null, "The server has not answered: it reads as many bytes as the header announces.");
    if (found.error) return show({ error: found.error }, "Refused. The engine has not seen the request.");
    const all = found.lengths.reduce((sum, n) => sum + n, 0);
    if (all > MOST_HERE) return show(null, `Correct. The server would translate it; this page translates ${MOST_HERE} tokens at most, and these are ${all}.`);
    const translations = await translated(engine, found, isCurrent);
    if (translations) show({ translations }, "Accepted. The classroom model in this page translated the texts, with a beam of 4.");
  }
  run();
  box.dataset.state = "waiting";
  whenWanted(box, "near", () => {
    if (wanted) return;
    wanted = true;
    run().catch(error => { box.dataset.state = "failed"; parts.status.textContent = error.message; });
  });
}

livePanels({ server });
