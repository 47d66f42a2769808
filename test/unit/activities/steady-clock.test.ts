import fc from 'fast-check';
import { expect, test } from 'vitest';
import { steadyClock } from '../../../src/activities/steady-clock.ts';

test('it begins with the date and goes on with what has passed, though the clock is set back an hour', () => {
  const machine = { date: 1_800_000_000_000, passed: 5_000.4 };
  const now = steadyClock({ now: () => machine.date, clock: () => machine.passed });
  expect(now()).toBe(1_800_000_000_000);
  machine.passed += 250;
  machine.date += 250 - 3_600_000;
  expect(now()).toBe(1_800_000_000_250);
});

test('law: it never goes back, whatever the date does', () => {
  const step = fc.record({ passed: fc.double({ min: 0, max: 1e6, noNaN: true }), jump: fc.integer() });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const machine = { date: 1_800_000_000_000, passed: 0 };
      const now = steadyClock({ now: () => machine.date, clock: () => machine.passed });
      let before = now();
      for (const { passed, jump } of steps) {
        machine.passed += passed;
        machine.date += jump;
        const at = now();
        expect(at).toBeGreaterThanOrEqual(before);
        expect(Number.isInteger(at)).toBe(true);
        before = at;
      }
    }),
  );
});
