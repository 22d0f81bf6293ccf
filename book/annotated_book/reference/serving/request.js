// The check of a request and the form of a reply, as `checked.py` and `server.py` of the page make them.
// Python's json refuses a value nested deeper than its stack allows, too; that limit differs between versions and is not here.
export const LONGEST_BODY = 1_000_000, MOST_TOKENS = 900; // bytes of a request; tokens of a sentence

export const CHECKS = ["The header names a length", "The content is JSON", "It holds a list of strings", "The strings are Unicode text", "No text is too long"];

const STRIPPED = "[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+", ENDS = new RegExp(`^${STRIPPED}|${STRIPPED}$`, "g");

// Python's `strip`, whose white space is not that of JavaScript's `trim`.
export const strip = text => text.replace(ENDS, "");

// Strings, numbers and the three constants that Python's json reads beyond the standard.
const TOKENS = /"(?:[^"\\]|\\[^])*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|-?Infinity|NaN/g;

// What Python's `json.loads` makes of bytes; throws where that does.
export function loads(bytes) {
  const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  return JSON.parse(text.replace(TOKENS, token => {
    if (/^-?\d{4301,}$/.test(token)) throw new SyntaxError("Python reads whole numbers of at most 4,300 digits");
    return /[yN]$/.test(token) ? " 0 " : token;
  }));
}

// Of a header's text and of a body's bytes, and a function that counts the tokens of a text: { texts, lengths }; where the
// request is refused { step, error }, counted as in CHECKS; { waits } where the server waits for so many bytes more.
export function check(header, body, count) {
  if (!/^[0-9]{1,9}$/.test(header) || +header > LONGEST_BODY) {
    return { step: 0, error: `Content-Length must be a whole number from 0 to ${LONGEST_BODY}` };
  }
  if (+header > body.length) return { step: 1, waits: +header - body.length };
  let request;
  try {
    request = loads(body.subarray(0, +header));
  } catch {
    return { step: 1, error: "the request is not JSON, or is nested too deep" };
  }
  const isObject = request !== null && typeof request === "object" && !Array.isArray(request);
  const texts = isObject && Object.hasOwn(request, "texts") ? request.texts : null;
  if (!Array.isArray(texts) || !texts.every(text => typeof text === "string")) {
    return { step: 2, error: 'the request must be an object {"texts": [...]} with a list of strings' };
  }
  if (texts.some(text => /\p{Surrogate}/u.test(text))) return { step: 3, error: "a text holds half of a surrogate pair" };
  const lengths = texts.map(text => count(strip(text))), long = lengths.findIndex(length => length > MOST_TOKENS);
  if (long >= 0) return { step: 4, error: `text ${long + 1} has ${lengths[long]} tokens, more than ${MOST_TOKENS}: split it` };
  return { texts, lengths };
}

// The reply's content as `json.dumps(answer, ensure_ascii=False)` writes it.
export const dumps = answer => "error" in answer ? `{"error": ${JSON.stringify(answer.error)}}`
  : `{"translations": [${answer.translations.map(text => JSON.stringify(text)).join(", ")}]}`;

export const bytesOfText = text => new TextEncoder().encode(text);

// Status line, headers that the handler sets itself, and content; the base class adds Server and Date.
export function replyText(answer) {
  const content = dumps(answer);
  return `HTTP/1.0 ${"error" in answer ? "400 Bad Request" : "200 OK"}\nContent-Type: application/json\n`
    + `Content-Length: ${bytesOfText(content).length}\n\n${content}`;
}
