import { expect, test } from 'vitest';
import { interruptedText } from '../../../src/commands/run/interrupted.ts';

test('Ctrl-C never claims to know what other workers do', () => {
  expect(interruptedText('ops-1', 'running', true)).toBe(
    [
      '',
      'stopped following ops-1 (running)',
      'What is finished is kept. It goes on where `assay up` or `assay worker` runs.',
      '  assay resume ops-1    go on, following it',
      '  assay cancel ops-1    end it',
      '',
    ].join('\n'),
  );
  expect(interruptedText('ops-1', 'running', false)).toContain('where `assay up` or `assay worker` runs');
});

test('Ctrl-C offers what fits the state of the evaluation', () => {
  expect(interruptedText('ops-1', 'paused', true)).toContain('assay unpause ops-1');
  expect(interruptedText('ops-1', 'stopped', true)).not.toContain('assay cancel');
  expect(interruptedText('ops-1', 'completed', true)).toContain('assay report ops-1');
  expect(interruptedText('ops-1', null, true)).toContain('deleted');
});
