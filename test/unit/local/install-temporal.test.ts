import { expect, test } from 'vitest';
import { archiveUrl, tarOf } from '../../../src/local/install-temporal.ts';

test.each([
  ['linux', 'x64', 'platform=linux&arch=amd64'],
  ['darwin', 'arm64', 'platform=darwin&arch=arm64'],
  ['win32', 'x64', 'platform=windows&arch=amd64'],
])('the archive for %s %s', (platform, arch, query) => {
  expect(archiveUrl(platform, arch)).toMatch(new RegExp(`/cli/archive/v[0-9.]+\\?${query}$`));
});

test('on Windows the archive is opened by the tar of the system, whatever PATH says', () => {
  expect(tarOf('linux', {})).toBe('tar');
  expect(tarOf('win32', { SystemRoot: String.raw`D:\Win` })).toBe(String.raw`D:\Win\System32\tar.exe`);
  expect(tarOf('win32', {})).toBe(String.raw`C:\Windows\System32\tar.exe`);
});
