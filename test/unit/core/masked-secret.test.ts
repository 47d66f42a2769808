import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MASKED_SECRET, maskSecrets } from '../../../src/core/masked-secret.ts';

const SECRET = 'canary-0c5e7d21ab93-end';

test.each([
  ['whole', `a ${SECRET} b`, `a ${MASKED_SECRET} b`],
  ['cut at its end', `a ${SECRET.slice(0, 15)}…`, `a ${MASKED_SECRET}…`],
  ['cut at its start', `it printed: ${SECRET.slice(-15)} b`, `it printed: ${MASKED_SECRET} b`],
  [
    'less than half of it',
    `a ${SECRET.slice(0, 11)} ${SECRET.slice(-11)}`,
    `a ${SECRET.slice(0, 11)} ${SECRET.slice(-11)}`,
  ],
  ['cut, twice', `${SECRET.slice(0, 12)}${SECRET.slice(-12)}`, `${MASKED_SECRET}${MASKED_SECRET}`],
])('D9: a secret %s', (_name, text, masked) => {
  expect(maskSecrets({ text, args: JSON.stringify({ text }) }, [SECRET])).toEqual({
    text: masked,
    args: JSON.stringify({ text: masked }),
  });
});

test('D9: an escape whose letter begins a half is not that half; keys are masked too, whatever their name', () => {
  const secret = 'sk-nvapi-0c5e7d';
  const harmless = { text: '\nvapi-0c5e7d' };
  expect(maskSecrets(harmless, [secret])).toEqual(harmless);
  const hostile = JSON.parse(`{"__proto__": "${secret}", "${secret}": 1}`) as object;
  expect(JSON.stringify(maskSecrets(hostile, [secret]))).toBe(`{"__proto__":"${MASKED_SECRET}","${MASKED_SECRET}":1}`);
});

test('D9: no half of a secret is left wherever a text is cut, and nothing else is lost', () => {
  const printable = fc.string({ minLength: 12, maxLength: 40 });
  fc.assert(
    fc.property(printable, fc.nat(), fc.nat(), fc.string(), fc.string(), (secret, a, b, before, after) => {
      const [start = 0, end = 0] = [a % (secret.length + 1), b % (secret.length + 1)].sort((x, y) => x - y);
      fc.pre(JSON.stringify(secret) === `"${secret}"` && !MASKED_SECRET.includes(secret.slice(0, 2)));
      fc.pre(start === 0 || end === secret.length);
      const part = secret.slice(start, end);
      const { text } = maskSecrets({ text: `${before}\n${part}\n${after}` }, [secret]);
      const long = part.length >= Math.max(12, Math.ceil(secret.length / 2));
      fc.pre(!before.includes(secret.slice(0, 3)) && !after.includes(secret.slice(-3)));
      expect(text).toBe(`${before}\n${long ? MASKED_SECRET : part}\n${after}`);
    }),
    { numRuns: 2_000 },
  );
});
