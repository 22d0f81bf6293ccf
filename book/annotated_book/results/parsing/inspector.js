// Faults of bracket strings on demand: each edit of a tree's linear form makes one of the nine that the library names; and what is said of a string.
import { countShared, notShared, readLinear } from "./linear.js";
import { wordsOf } from "./places.js";

const firstOf = (tokens, test) => tokens.findIndex(test);
const isLeaf = token => !/^[()]/.test(token);
const without = (tokens, at) => tokens.filter((_, i) => i !== at);
const replaced = (tokens, at, ...others) => [...tokens.slice(0, at), ...others, ...tokens.slice(at + 1)];
const doubled = (tokens, at) => replaced(tokens, at, tokens[at], tokens[at]);

// [the fault, what the edit does, the edit]
export const EDITS = [
  ["unclosed", "leave out the last bracket", tokens => tokens.slice(0, -1)],
  ["mismatched", "close a noun phrase as a verb phrase", tokens => replaced(tokens, tokens.indexOf(")NP"), ")VP")],
  ["words", "write a word twice", tokens => doubled(tokens, firstOf(tokens, isLeaf))],
  ["nothing inside", "leave out the words of a phrase", tokens => {
    const at = firstOf(tokens, (token, i) => isLeaf(token) && tokens[i - 1]?.startsWith("(") && tokens[i + 1]?.startsWith(")"));
    return at < 0 ? replaced(tokens, 0, tokens[0], "(NP", ")NP") : without(tokens, at);
  }],
  ["after the end", "write on after the end", tokens => [...tokens, "."]],
  ["unopened", "begin with a closing bracket", tokens => [")NP", ...tokens]],
  ["no bracket", "begin with a word", tokens => ["The", ...tokens]],
  ["no label", "write a bracket without its label", tokens => replaced(tokens, tokens.length - 1, ")")],
  ["empty", "write nothing", () => []],
];

export const isMark = word => /^[.,:?!]+$/.test(word);

const PENN = "In the linear form a closing bracket has its label too: )NP, not ) as in the Penn Treebank's files.";

const per = (part, whole) => `${part} of ${whole}`;

// Brackets of a well-formed tree that are in the right one, and F1 in percent.
export function scoreOf(read, words, gold) {
  const [matched, right, guessed] = countShared(readLinear(gold), read, words.map(isMark));
  return { matched, right, guessed, f1: 200 * matched / (right + guessed || 1) };
}

// { kind, text }: the fault as the library names it, or how many brackets a well-formed tree shares with the right one.
export function verdictOn(tokens, words, gold) {
  const read = readLinear(tokens, words);
  if (read.fault) {
    const { fault, message, position } = read.fault, penn = fault === "no label" && tokens[position] === ")" ? ` ${PENN}` : "";
    return { read, kind: "fault", text: `Malformed, ${fault}. ${message[0].toUpperCase()}${message.slice(1)}.${penn}` };
  }
  const { matched, right, guessed, f1 } = scoreOf(read, words, gold);
  const counts = `${per(matched, guessed)} brackets are right (precision ${percentOf(matched, guessed)}), ${per(matched, right)} are found (recall ${percentOf(matched, right)})`;
  return { read, kind: "tree", text: `Well-formed. Against the treebank's tree ${counts}: F1 ${f1.toFixed(1)}.` };
}

// Of a well-formed tree: the numbers of the constituents that the right one has not, and in words what it lacks.
export function differencesOf(read, words, gold) {
  if (read.fault) return { wrong: new Set(), lacks: "" };
  const right = readLinear(gold), marks = words.map(isMark);
  const lacking = notShared(right, read, marks).map(k => `${right.nodes[k].label} “${wordsOf(right.nodes[k], right, words).join(" ")}”`);
  return { wrong: new Set(notShared(read, right, marks)), lacks: lacking.length ? `It lacks ${lacking.join(", ")}.` : "" };
}

const percentOf = (part, whole) => whole ? `${(100 * part / whole).toFixed(1)} %` : "0 %";
