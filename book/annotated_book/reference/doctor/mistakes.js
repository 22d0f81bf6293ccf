// Known mistakes made in the page's model, each under its name in annotated_grader.doctor.mutants; a test holds both to be the same.
// A mistake is `switches` of the engine, or `Kind`, the model's class with one method changed.
import { softmax } from "../../viz/engine/arithmetic.js";
import { Transformer } from "../../viz/engine/transformer.js";

// The model whose attention gets other options, which depend on them and on its place, "encoder.0", "decoder.0" or "cross.0".
const attending = change => class extends Transformer {
  attend(name, place, x, n, cache, m, options) {
    return super.attend(name, place, x, n, cache, m, { ...options, ...change(options, place) });
  }
};

export const MISTAKES = {
  causal_mask_missing: { Kind: attending(() => ({ first: -1 })) },
  causal_mask_too_wide: { Kind: attending(({ first = -1 }) => ({ first: first < 0 ? first : first + 1 })) },
  encoder_is_causal: { Kind: attending(({ first }, place) => ({ first: place.startsWith("encoder") ? 0 : first })) },
  padding_seen_by_encoder: { Kind: attending(({ real }, place) => ({ real: place.startsWith("encoder") ? undefined : real })) },
  mask_fill_tiny: { Kind: class extends Transformer {
    weigh(all, n, m, seen) {
      for (let i = 0; i < n; i++) softmax(all.subarray(i * m, (i + 1) * m).fill(-1e-12, seen(i)));
    }
  } },
  softmax_over_queries: { Kind: class extends Transformer {
    weigh(all, n, m, seen) {
      for (let j = 0; j < m; j++) {
        const queries = Array.from({ length: n }, (_, i) => i).filter(i => seen(i) > j);
        softmax(Float32Array.from(queries, i => all[i * m + j])).forEach((weight, at) => { all[queries[at] * m + j] = weight; });
      }
    }
  } },
  keys_and_values_swapped: { Kind: class extends Transformer {
    attend(name, place, x, n, { keys, values }, m, options) {
      return super.attend(name, place, x, n, { keys: values, values: keys }, m, options);
    }
  } },
  encoder_skipped: { Kind: class extends Transformer {
    encode(ids, set, options) {
      const encoded = super.encode(ids, set, options), n = ids.length, x = new Float32Array(n * this.config.d_model);
      this.embed(ids, 0, x, set, null, "source");
      encoded.cross.forEach((cache, l) => this.remember(`decoder.layers.${l}.cross_attention`, x, n, cache, 0));
      return encoded;
    }
  } },
  cached_position_restarts: { Kind: class extends Transformer {
    embed(ids, first, ...rest) { super.embed(ids, 0, ...rest); }
  } },
  cache_forgets_values: { Kind: class extends Transformer {
    remember(name, x, n, cache, first) {
      super.remember(name, x, n, cache, first);
      const d = this.config.d_model, { values } = cache;
      if (first) for (let j = 0; j < first; j++) values.copyWithin(j * d, first * d, (first + 1) * d);
    }
  } },
  scale_by_d_k: { switches: { divisor: "d_k" } },
  positions_missing: { switches: { positions: false } },
  residual_missing: { switches: { residual: false } },
};

// The engine with a mistake, and the switches to call it with; the engine itself for a name that is none of them.
export function patient(engine, id) {
  const { Kind, switches = {} } = MISTAKES[id] ?? {};
  return { engine: Kind ? engine.derived(Kind) : engine, switches };
}
