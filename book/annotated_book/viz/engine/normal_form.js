// One way to write a line of text, of the many that look the same: annotated.text.normal_form in the page, which a test holds
// it to. The classroom's tokenizer has no normal form of its own, so the reader's line is prepared before it sees it.
const WHITE = "[\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+";
const JOINS = "[^\\x00-\\u02ff\\u1680\\u1e00-\\u1eff\\u2000-\\u206f\\u3000]";
const INVISIBLE = /[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]/gu;
const IDLE_JOINER = new RegExp(`(?<!${JOINS})[\\u200c\\u200d]+|[\\u200c\\u200d]+(?![\\u200c\\u200d]|${JOINS})`, "gu");
const CONTROLS = /[\x00-\x08\x0e-\x1f\x7f]/g, EDGES = new RegExp(`^${WHITE}|${WHITE}$`, "gu");

export const normalise = text => text.replace(INVISIBLE, "").replace(IDLE_JOINER, "").normalize("NFC").replace(CONTROLS, "")
  .replace(new RegExp(WHITE, "gu"), " ").replace(EDGES, "");
