// Time and price of a whole training on GPUs of the reader's choice: `bill` and `update_flops` of chapter 27, for the page.

// Of operations that the training needs, on `count` GPUs that each reach a share of a peak (FLOP/s): GPU hours, hours, price.
export function bill(flops, { peak, share, count, price }) {
  const gpuHours = flops / (peak * share) / 3600;
  return { gpuHours, hours: gpuHours / count, money: gpuHours * price };
}

// What each model takes: `models` as [name, operations of an update, updates].
export const bills = (models, choice) => models.map(([name, each, updates]) =>
  ({ name, seconds: each / (choice.peak * choice.share * choice.count), ...bill(each * updates, choice) }));

// So many digits, from a thousand on all of them.
export const digits = (x, most = 3) => x >= 1000 ? Math.round(x).toLocaleString("en-GB") : String(+x.toPrecision(most));

// Hours as a person says them, in two digits: minutes below one hour, days from two days on.
export const timeOf = hours => hours < 1 ? `${digits(60 * hours, 2)} min` : hours < 48 ? `${digits(hours, 2)} h` : `${digits(hours / 24, 2)} days`;

export const secondsOf = seconds => seconds < 1 ? `${digits(1000 * seconds, 2)} ms` : `${digits(seconds, 2)} s`;

export const moneyOf = money => money >= 1000 ? Math.round(money).toLocaleString("en-GB") : money.toFixed(2);

// The share of the peak that a measured update needs: what a dry run tells, turned round.
export const shareOf = (each, seconds, { peak, count }) => each / (seconds * peak * count);

// A logarithmic axis with a margin around all the hours: its ticks, and the place of a number of hours, 0 to 1.
const TICKS = [1 / 60, 1 / 6, 1, 6, 24, 168, 720, 8760], MARGIN = 1.3;
export function logAxis(hours) {
  const low = Math.min(...hours) / MARGIN, high = Math.max(...hours) * MARGIN;
  return { ticks: TICKS.filter(tick => tick >= low && tick <= high), place: x => Math.log(x / low) / Math.log(high / low) };
}
