import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { BREACH_ONLY_SCORERS, ownScoreNames } from '../../../src/core/scorer-names.ts';
import { readScript } from '../../../src/scripted-model/read-script.ts';
import { EXAMPLES, EXAMPLE_SUITES, loadExample, runExample } from './run-example.ts';

interface Seen {
  yes: string[];
  no: string[];
}

const seen = new Map<string, Seen>();
let trials = 0;

beforeAll(async () => {
  for (const name of EXAMPLE_SUITES) {
    const loaded = await loadExample(name);
    const run = await runExample(loaded, await readScript(path.join(EXAMPLES, name, loaded.suite.offline_model!)));
    for (const { evalCase, trialIndex, scores } of run.trials) {
      trials += 1;
      for (const { scorer, passed } of scores) {
        const found = seen.get(scorer) ?? { yes: [], no: [] };
        seen.set(scorer, found);
        if (passed !== null) found[passed ? 'yes' : 'no'].push(`${name} ${evalCase.id} ${trialIndex}`);
      }
    }
  }
}, 90_000);

describe.each(ownScoreNames())('%s', (scorer) => {
  const of = (): Seen => seen.get(scorer) ?? { yes: [], no: [] };

  test('is seen to say no over the examples', () => {
    expect(of().no).not.toEqual([]);
  });

  test('is seen to say yes over the examples', () => {
    // These have nothing to say where there is no breach: most trials must be without them.
    if (BREACH_ONLY_SCORERS.includes(scorer)) expect(of().no.length).toBeLessThan(trials / 10);
    else expect(of().yes).not.toEqual([]);
  });
});

test('the list of names has every score that was given', () => {
  expect([...seen.keys()].filter((scorer) => !ownScoreNames().includes(scorer))).toEqual([]);
});
