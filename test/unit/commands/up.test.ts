import { expect, test } from 'vitest';
import { shownAddress } from '../../../src/commands/stack/shown-address.ts';
import { renderAddresses } from '../../../src/commands/stack/up.ts';

const URL_WITH_PASSWORD = 'postgresql://assay:s3cret%2F@127.0.0.1:5433/assay';
const temporal = { temporal: '127.0.0.1:7233', namespace: 'default', ui: 'http://127.0.0.1:8233' };

test('the password of a database is printed only when asked for', () => {
  expect(shownAddress(URL_WITH_PASSWORD, false)).toBe('postgresql://assay:***@127.0.0.1:5433/assay');
  expect(shownAddress(URL_WITH_PASSWORD, true)).toBe(URL_WITH_PASSWORD);
  expect(shownAddress('postgresql://me@host/db', false)).toBe('postgresql://me@host/db');
});

test('assay up hides the password and says how to get it', () => {
  const hidden = renderAddresses({ ...temporal, postgres: shownAddress(URL_WITH_PASSWORD, false) });
  expect(hidden).not.toContain('s3cret');
  expect(hidden).toContain('assay sql --show-password prints the password');
  const shown = renderAddresses({ ...temporal, postgres: shownAddress(URL_WITH_PASSWORD, true) });
  expect(shown).toContain('s3cret');
  expect(shown).not.toContain('--show-password');
});
