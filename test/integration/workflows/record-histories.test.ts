import { describe, test } from 'vitest';
import { recordHistories } from '../../fixtures/record-histories.ts';

const version = process.env['ASSAY_RECORD_HISTORIES'];

describe.skipIf(version === undefined)('recording histories (only when ASSAY_RECORD_HISTORIES names a version)', () => {
  if (version === undefined) test('not asked for', () => undefined);
  else recordHistories(version);
});
