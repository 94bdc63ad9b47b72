import { createHash } from 'node:crypto';

/** Begins a digest that stands for a payload which is not kept: no JSON text begins so. */
const DIGEST = '\0sha1:';

/** Of a payload of which nothing but its digest is known, as hex of its SHA-1. */
export function firstByDigest(digest: string): string {
  return `${DIGEST}${digest}`;
}

/** Whether a payload is the one that came first: as it was, or as {@link firstByDigest} has it. */
export function isFirstPayload(first: string, payload: string): boolean {
  return first.startsWith(DIGEST) ? first === firstByDigest(sha1(payload)) : first === payload;
}

/** The digest of the payload that came first, as hex of its SHA-1. */
export function digestOfFirst(first: string): string {
  return first.startsWith(DIGEST) ? first.slice(DIGEST.length) : sha1(first);
}

function sha1(text: string): string {
  return createHash('sha1').update(text).digest('hex');
}
