import { BlockList, isIPv4, isIPv6 } from 'node:net';

/** IPv4 ranges that are not the public internet (RFC 6890 and successors): private, link-local with the metadata services, … */
const PRIVATE_V4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const;

/** The public internet of IPv6 is 2000::/3; these ranges of it are not. The tunnels 2001::/32 and 2002::/16 hold IPv4 addresses. */
const PRIVATE_V6 = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const;

const privateAddresses = new BlockList();
for (const [network, prefix] of PRIVATE_V4) privateAddresses.addSubnet(network, prefix, 'ipv4');
for (const [network, prefix] of PRIVATE_V6) privateAddresses.addSubnet(network, prefix, 'ipv6');

const globalUnicast = new BlockList();
globalUnicast.addSubnet('2000::', 3, 'ipv6');

/**
 * True for an address of the public internet. IPv6 addresses that hold an IPv4 address (mapped, compatible, NAT64,
 * 6to4, Teredo) are none: what they lead to is decided elsewhere.
 */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !privateAddresses.check(address, 'ipv4');
  if (!isIPv6(address)) return false;
  const bare = address.split('%', 1)[0] ?? address;
  return globalUnicast.check(bare, 'ipv6') && !privateAddresses.check(bare, 'ipv6');
}

/** True for an address of this machine itself; a mapped one is none, like everywhere here. */
export function isLoopbackAddress(address: string): boolean {
  return (isIPv4(address) && address.startsWith('127.')) || address === '::1';
}

/** True for a host name of a URL that means this machine, before any name server is asked. */
export function isLoopbackHost(hostname: string): boolean {
  const bare = hostname.replace(/^\[|\]$/g, '').toLowerCase();
  return bare === 'localhost' || bare.endsWith('.localhost') || isLoopbackAddress(bare);
}
