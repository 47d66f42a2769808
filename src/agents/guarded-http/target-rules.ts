import { isIP } from 'node:net';
import { UserError } from '../../core/errors.ts';
import { isLoopbackAddress, isLoopbackHost, isPublicAddress } from './addresses.ts';

/** Where requests may go. */
export interface TargetRules {
  /** The address the user wrote. On loopback it is allowed by itself, for its own host and port. */
  typed: URL;
  /** The suite allows private and link-local addresses. */
  allowPrivate: boolean;
  /** The typed address is allowed wherever it is, for its own host and port. Default false: on loopback only. */
  trustTyped?: boolean;
  /** False: not even on loopback, for addresses a user did not write. Default true. */
  trustLoopback?: boolean;
}

/** An address found on the way (in a card, a redirect, a name server's answer) that no request may be sent to. */
export class BlockedTargetError extends UserError {
  constructor(target: string, why: string) {
    super(`no request is sent to ${target}: ${why}`, {
      hint: 'if it is meant, set `allow_private: true` beside the address in the suite file',
    });
    this.name = 'BlockedTargetError';
  }
}

/**
 * Checks what can be seen of an address without a name server.
 * @throws BlockedTargetError
 */
export function checkUrl(url: URL, rules: TargetRules): void {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new BlockedTargetError(shown(url), `${url.protocol} is neither http nor https`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new BlockedTargetError(shown(url), 'it holds a user name or password');
  }
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0) checkAddress(host, url, rules);
}

/**
 * Checks an address a name was resolved to, right before it is connected to.
 * @throws BlockedTargetError
 */
export function checkAddress(address: string, url: URL, rules: TargetRules): void {
  if (rules.allowPrivate || isPublicAddress(address)) return;
  const trusted = rules.trustTyped === true || (rules.trustLoopback !== false && isTypedLoopback(address, url));
  if (isTyped(url, rules) && trusted) return;
  const at = url.hostname.replace(/^\[|\]$/g, '') === address ? '' : ` (${address})`;
  throw new BlockedTargetError(`${shown(url)}${at}`, 'that is a private, link-local or reserved address');
}

function isTyped(url: URL, { typed }: TargetRules): boolean {
  return url.host === typed.host && url.protocol === typed.protocol;
}

/** A name that merely resolves to this machine is none that the user wrote as this machine. */
function isTypedLoopback(address: string, url: URL): boolean {
  return isLoopbackAddress(address) && isLoopbackHost(url.hostname);
}

/** True when the credential for the typed address may be sent to `url` too: the same host, and no less encryption. */
export function mayCarryCredential(url: URL, typed: URL): boolean {
  return url.hostname === typed.hostname && (url.protocol === 'https:' || typed.protocol === 'http:');
}

/** Origin and path: queries and credentials are not for messages. */
function shown(url: URL): string {
  return `${url.protocol}//${url.host}${url.pathname}`;
}
