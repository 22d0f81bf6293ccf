// Numbers of a recorded training: written short, and looked up at an update.
export const short = x => x >= 1e5 ? `${(x / 1000).toFixed(0)}k` : x >= 1e3 ? Math.round(x).toLocaleString("en") : x >= 100 ? x.toFixed(0)
  : x >= 10 ? x.toFixed(1) : x >= 0.01 || x === 0 ? x.toFixed(2) : x.toExponential(1).replace("-", "−");

export function clock(seconds) {
  const s = Math.round(seconds), two = n => String(n).padStart(2, "0");
  return s >= 3600 ? `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}` : `${Math.floor(s / 60)}:${two(s % 60)}`;
}

// The last value of a curve { u, v } that is not later than update u.
export function valueAt(line, u) {
  let found;
  for (const [i, one] of line.u.entries()) if (one <= u) found = line.v[i];
  return found;
}

// The moment whose update is nearest.
export const nearest = (moments, u) =>
  moments.reduce((best, m, i) => Math.abs(m.u - u) < Math.abs(moments[best].u - u) ? i : best, 0);

// What is said of a moment: losses, speed, and what happened since the moment before.
export function reportOf(run, index) {
  const now = run.moments[index], before = run.moments[index - 1]?.u ?? -1;
  const speed = run.curves.speed && valueAt(run.curves.speed[0], now.u);
  const part = run.peak && speed ? ` At this speed the training does ${Math.round(100 * speed * run.peak)} % of the operations per second that one large matrix product reaches on the same machine.` : "";
  const happened = run.events.filter(e => e.u <= now.u && e.u > before).map(e => ` ${e.text}`).join("");
  return `After update ${now.u.toLocaleString("en")} of ${run.updates.toLocaleString("en")}: validation loss ${short(now.loss)}`
    + `${now.bleu === null ? "" : `, BLEU ${now.bleu.toFixed(1)}`}${speed ? `, ${short(speed)} tokens a second` : ""}.${part}${happened}`;
}

export function costOf(run, index, price) {
  const { elapsed } = run.moments[index], hours = elapsed / 3600, left = Math.max(0, run.elapsed - elapsed);
  const unit = Math.max(elapsed, left) >= 3600 ? "h:min:s" : "min:s";
  return `${clock(elapsed)} used, ${clock(left)} left (${unit})`
    + (price ? `; at this price ${(hours * price).toFixed(2)} spent, ${(left / 3600 * price).toFixed(2)} to come` : "");
}
