// What a training says at one of its moments.

export const rightAt = (written, numbers, moment) => written[moment].map((text, i) => text === numbers[i][1]);

export const count = flags => flags.filter(Boolean).length;

// The mean loss of the updates since the moment before; none before the first update.
export function lossAt(losses, updates, moment) {
  const since = losses.slice(moment ? updates[moment - 1] : 0, updates[moment]);
  return since.length ? since.reduce((sum, loss) => sum + loss, 0) / since.length : null;
}

// How far what is written agrees with what is right: [as long, the same first digit], counts over all numbers.
export function agreement(written, numbers, moment) {
  const pairs = written[moment].map((text, i) => [text, numbers[i][1]]);
  return { length: count(pairs.map(([text, right]) => text.length === right.length)), first: count(pairs.map(([text, right]) => text[0] === right[0])) };
}

// The moments of one number at which something else is written than before: [update, text].
export function history(written, updates, number) {
  return updates.map((update, i) => [update, written[i][number]]).filter(([, text], i, all) => i === 0 || text !== all[i - 1][1]);
}

export function saying({ losses, updates, written, numbers }, moment) {
  const loss = lossAt(losses, updates, moment), right = count(rightAt(written, numbers, moment)), { length, first } = agreement(written, numbers, moment);
  const head = `After ${updates[moment]} updates, ${right} of ${numbers.length} held-out numbers are right`;
  const rest = `${length} have the right number of digits, ${first} the right first digit.`;
  const batches = updates[moment] - (moment ? updates[moment - 1] : 0);
  return { head, rest: loss === null ? `Nothing is learned yet. ${rest}` : `Mean loss of the last ${batches} batches: ${loss.toFixed(3)} nats per token. ${rest}` };
}
