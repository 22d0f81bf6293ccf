// Trace of one sentence: what leaves every box of figure 1, under the names of annotated.analysis.tracing, and all maps.
import { softmax } from "./arithmetic.js";

// `boxes`: name -> { data, rows, columns }; `maps`: name of an attention box -> for each head its weights, row by row.
export function traceOf(transformer, source, read, set) {
  const boxes = {}, maps = {};
  const keep = (name, data, rows, columns) => { boxes[name] = { data: data.slice(0, rows * columns), rows, columns }; };
  const encoded = transformer.encode(source, set, { maps, keep });
  const x = transformer.decode(read, transformer.start(encoded, read.length), set, { maps, keep });
  const v = transformer.tensors["embedding.weight"].rows, linear = new Float32Array(read.length * v);
  read.forEach((_, t) => linear.set(transformer.logits(x, t), t * v));
  keep("linear", linear, read.length, v);
  keep("softmax", linear, read.length, v);
  read.forEach((_, t) => softmax(boxes.softmax.data.subarray(t * v, (t + 1) * v)));
  return { boxes, maps };
}
