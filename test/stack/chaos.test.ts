import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ChaosLab, openChaosLab } from '../e2e/support/chaos.ts';

const ROUNDS = 20;
const FIRST_SEED = 1_000;
let chaos: ChaosLab;

beforeAll(async () => {
  chaos = await openChaosLab();
});
afterAll(() => chaos.close());

test.each(Array.from({ length: ROUNDS }, (_, index) => FIRST_SEED + index))(
  'chaos round with seed %i: worker, command, servers and endpoint die; what is stored is as if nothing had',
  async (seed) => {
    const report = await chaos.round(seed);
    console.log(`${report.seconds} s: ${report.disturbances.join('; ')}`);
    expect(report.problems, report.disturbances.join('; ')).toEqual([]);
  },
);
