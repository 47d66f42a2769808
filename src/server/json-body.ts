import express, { type RequestHandler } from 'express';

/** Largest body of a request, bytes. */
const MAX_BODY_BYTES = 1_000_000;

export const TOO_LARGE = `The request is larger than ${MAX_BODY_BYTES} bytes.`;

/**
 * Reads the body before the SDK does, whose own bound is 100 KB: what is read once is left alone by every later parser.
 * Other content types stay unread, for the SDK to refuse.
 */
export const jsonBody: RequestHandler = express.json({
  type: ['application/json', 'application/a2a+json'],
  strict: false,
  limit: MAX_BODY_BYTES,
});

export function isTooLarge(error: unknown): boolean {
  return (error as { status?: unknown }).status === 413;
}
