// Draft and verify, pass by pass: what the draft guesses, what the model says at each place, and which tokens stay.
import { group, html, onTraits, radios, readout, setter, traits, unique } from "../../viz/controls.js";
import { player } from "../../viz/player.js";

const END = "</s>", FATES = { open: "", kept: "✓ kept", corrected: "✗ the model's token stands", dropped: "– dropped", added: "+ one more" };

// A token without the mark of a word's beginning.
export const plain = token => token === END ? "end" : token.replace("▁", "");

// What becomes of each place of a pass: guesses up to the first wrong one are kept, and one choice of the model's own follows.
export const placesOf = ({ guesses, choices, kept }) => choices.map((choice, i) => ({
  guess: guesses[i] ?? null, choice,
  fate: i < kept ? "kept" : i > kept ? "dropped" : i < guesses.length ? "corrected" : "added",
}));

// The tokens that the first `count` passes wrote, and whether each was a guess.
export const writtenBy = (passes, count) => passes.slice(0, count).flatMap(({ choices, kept }) =>
  choices.slice(0, kept + 1).map((token, i) => ({ token, guessed: i < kept })));

const tokens = count => count === 1 ? "1 token" : `${count} tokens`, passesOf = count => count === 1 ? "1 pass" : `${count} passes`;

// The moment in words.
export function saying(passes, moment) {
  const at = moment >> 1, { guesses, choices, kept } = passes[at], total = writtenBy(passes, at + 1).length;
  if (moment % 2 === 0) return guesses.length
    ? `Pass ${at + 1}: the draft guesses ${tokens(guesses.length)}. The model will read all of them at once.`
    : `Pass ${at + 1}: the draft guesses nothing. The model writes one token.`;
  const own = plain(choices[kept]), so = `So far ${tokens(total)} in ${passesOf(at + 1)}; greedy search needs ${passesOf(total)}.`;
  if (kept === guesses.length) return `${kept ? `${kept === 1 ? "The guess is" : `All ${kept} guesses are`} kept, and the` : "The"} model adds its own choice, “${own}”. ${so}`;
  const lost = guesses.length - kept - 1, rest = lost ? ` What follows was guessed, and checked, after a wrong token: it is dropped.` : "";
  return `${kept} of ${guesses.length} guesses ${kept === 1 ? "is" : "are"} kept. The model puts “${own}” in the place of “${plain(guesses[kept])}”.${rest} ${so}`;
}

// Chips of the text; the pieces of one word stand close together.
function chips(written) {
  return written.map(({ token, guessed }) => html("span", {
    className: `${guessed ? "guessed" : "own"}${token.startsWith("▁") || token === END ? " begins" : ""}`, textContent: plain(token),
    title: guessed ? "a guess that was kept" : "the model's own token",
  }));
}

function rowsOf(one, checked) {
  return placesOf(one).map(({ guess, choice, fate }) => html("tr", { className: checked ? fate : "open" },
    html("td", {}, guess === null ? html("i", { textContent: "no guess" }) : plain(guess)),
    html("td", { textContent: checked ? plain(choice) : "…" }), html("td", { textContent: FATES[checked ? fate : "open"] })));
}

function render({ model, el }) {
  const { source, searches } = traits(model, "source", "searches"), set = setter(model);
  const passes = () => searches[model.get("draft")].passes, last = () => 2 * passes().length - 1;
  const playback = player({ model, el, trait: "moment", last, every: 1400, one: "moment", what: "moment of the search" });
  const drafts = radios(unique("draft"), searches.map(({ name }, i) => [i, name]), draft => { playback.stop(); set({ moment: 0, draft }); });
  const text = html("p", { className: "written" }), body = html("tbody"), said = readout("p");
  const heads = ["the draft's guess", "the model's choice", "outcome"].map(name => html("th", { scope: "col", textContent: name }));
  el.append(html("div", { className: "draft-stepper" },
    html("p", {}, html("b", { textContent: "Source: " }), source), group("draft", ...drafts.labels),
    html("div", { className: "controls" }, ...playback.controls), text,
    html("div", { className: "pass" }, html("table", {}, html("thead", {}, html("tr", {}, ...heads)), body)), said));

  function draw() {
    const draft = model.get("draft"), moment = Math.min(model.get("moment"), last()), all = passes();
    const at = moment >> 1, checked = moment % 2 === 1;
    drafts.show(draft);
    playback.show(moment, `pass ${at + 1}, ${checked ? "checked" : "guessed"}`);
    text.replaceChildren(html("b", { textContent: "Written: " }), ...chips(writtenBy(all, at + checked)));
    body.replaceChildren(...rowsOf(all[at], checked));
    said.textContent = saying(all, moment);
  }
  onTraits(model, ["draft", "moment"], draw);
  draw();
  return () => playback.stop();
}

export default { render };
