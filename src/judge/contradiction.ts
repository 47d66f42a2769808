import { toNumber } from './fields.ts';
import type { Fields } from './fields.ts';
import type { VerdictFlag } from './verdict.ts';

/** Words a judge may add to say pass or fail; they never count. */
const PASS_KEYS = ['pass', 'passed', 'is_pass', 'ok'];
/** Totals a judge may add; they never count. */
const SUM_KEYS = ['score', 'total', 'total_score', 'overall', 'value'];

/**
 * Flags a reply whose extra fields say otherwise than the fields that count: `{"pass": true, "score": 0}`.
 * @param except keys that count for this dimension, so that they are not compared with themselves
 */
export function contradictions(
  fields: Fields,
  decided: { value: number; passed: boolean },
  except: readonly string[],
): VerdictFlag[] {
  const passes = PASS_KEYS.filter((key) => !except.includes(key)).some((key) => {
    const said = fields.get(key);
    return typeof said === 'boolean' && said !== decided.passed;
  });
  const sums = SUM_KEYS.filter((key) => !except.includes(key)).some((key) => {
    const said = toNumber(fields.get(key));
    return said !== null && Math.abs(said - decided.value) > 0.01;
  });
  return passes || sums ? ['contradiction'] : [];
}
