import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ChaosLab, openChaosLab } from '../e2e/support/chaos.ts';

/** Chaos rounds on a stack of their own. Two files share the rounds, so that two stacks are killed side by side. */
export function chaosTests(firstSeed: number, rounds: number): void {
  let chaos: ChaosLab;
  beforeAll(async () => {
    chaos = await openChaosLab();
  });
  afterAll(() => chaos.close());

  test.each(Array.from({ length: rounds }, (_, index) => firstSeed + index))(
    'chaos round with seed %i: worker, command, servers and endpoint die; what is stored is as if nothing had',
    async (seed) => {
      const report = await chaos.round(seed);
      console.log(`${report.seconds} s: ${report.disturbances.join('; ')}`);
      expect(report.problems, report.disturbances.join('; ')).toEqual([]);
    },
  );
}
