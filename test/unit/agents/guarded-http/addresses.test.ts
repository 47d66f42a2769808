import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isLoopbackAddress, isLoopbackHost, isPublicAddress } from '../../../../src/agents/guarded-http/addresses.ts';

test.each([
  '0.0.0.0',
  '10.1.2.3',
  '100.64.0.1',
  '127.0.0.1',
  '127.255.255.254',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '198.18.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::ffff:127.0.0.1',
  '::ffff:169.254.169.254',
  '::ffff:8.8.8.8',
  '::ffff:a9fe:a9fe',
  '::169.254.169.254',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b:1::1',
  '2002:a9fe:a9fe::',
  '2001:0:a9fe:a9fe::',
  '2001:db8::1',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'fc00::1',
  'fd00:ec2::254',
  'ff02::1',
  'no address',
])('%s is not of the public internet', (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test.each(['8.8.8.8', '1.1.1.1', '172.15.255.255', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450::1'])(
  '%s is of the public internet',
  (address) => {
    expect(isPublicAddress(address)).toBe(true);
  },
);

test('an IPv4 address in any IPv6 form is never public', () => {
  fc.assert(
    fc.property(fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255)), ([a, b, c, d]) => {
      const hex = [a * 256 + b, c * 256 + d].map((part) => part.toString(16)).join(':');
      return [`::ffff:${hex}`, `::${hex}`, `64:ff9b::${hex}`, `2002:${hex}::1`, `::ffff:0:${hex}`].every(
        (address) => !isPublicAddress(address),
      );
    }),
  );
});

test('loopback is this machine, by number or by name', () => {
  expect(['127.0.0.1', '127.9.9.9', '::1'].every(isLoopbackAddress)).toBe(true);
  expect(['8.8.8.8', '::2', '::ffff:127.0.0.1', 'localhost'].some(isLoopbackAddress)).toBe(false);
  expect(['localhost', 'LOCALHOST', 'a.localhost', '[::1]', '127.0.0.1'].every(isLoopbackHost)).toBe(true);
  expect(['localhost.example', 'example', '10.0.0.1'].some(isLoopbackHost)).toBe(false);
});
