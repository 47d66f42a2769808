import { parseArgs } from 'node:util';
import { openChaosLab } from '../test/e2e/support/chaos.ts';

/** `npm run chaos -- --rounds 200 --seed 1`: chaos rounds without vitest; prints each and ends with 1 when one did not hold. */
const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '200' }, seed: { type: 'string', default: '1' } },
});
const rounds = Number(values.rounds);
const first = Number(values.seed);
const chaos = await openChaosLab();
let failed = 0;
try {
  for (let seed = first; seed < first + rounds; seed += 1) {
    const report = await chaos.round(seed);
    console.log(
      `seed ${seed}, ${report.seconds} s, ${report.problems.length === 0 ? 'held' : 'FAILED'}: ${report.disturbances.join('; ')}`,
    );
    if (report.problems.length > 0) {
      failed += 1;
      console.log(report.problems.join('\n'));
    }
  }
} finally {
  await chaos.close();
}
console.log(`${rounds - failed} rounds held, ${failed} did not`);
process.exit(failed === 0 ? 0 : 1);
