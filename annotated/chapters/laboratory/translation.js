// Greedy decoding in the laboratory, a piece at a time, with what each piece competed with and looked at.
const EOS = 2, BOS = 1;
export const MOST_PIECES = 40;

const pause = () => new Promise(resume => setTimeout(resume));

// One piece: the five most probable, and where the last layer looked, averaged over its heads.
function nextStep(transformer, written, encoded, source, switches) {
  const { logProbabilities, cross } = transformer.decode(written, encoded, switches);
  const best = [...logProbabilities.keys()].sort((a, b) => logProbabilities[b] - logProbabilities[a]).slice(0, 5);
  const looked = cross.at(-1).map(weights => weights.subarray(weights.length - source.length));
  return { id: best[0], best: best.map(id => [id, Math.exp(logProbabilities[id])]),
    looks: source.map((_, s) => looked.reduce((sum, head) => sum + head[s], 0) / looked.length) };
}

// Stops early, with null, when the reader has asked for something else.
export async function translate({ tokenizer, transformer }, text, switches, isCurrent = () => true) {
  const source = [...tokenizer.encode(text), EOS], encoded = transformer.encode(source, switches);
  const written = [BOS], steps = [];
  while (written.length <= MOST_PIECES && written.at(-1) !== EOS) {
    steps.push(nextStep(transformer, written, encoded, source, switches));
    written.push(steps.at(-1).id);
    await pause();
    if (!isCurrent()) return null;
  }
  return { source, steps, text: tokenizer.decode(written), ended: written.at(-1) === EOS };
}
