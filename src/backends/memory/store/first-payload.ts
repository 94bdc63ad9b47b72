import { createHash } from 'node:crypto';

/** First character of a digest in place of a payload: no JSON text begins so. */
const DIGEST = '\0sha1:';

/** A payload of which only the digest is known, as hex of its SHA-1. */
export function firstByDigest(digest: string): string {
  return `${DIGEST}${digest}`;
}

/** Whether a payload equals the first one, given in full or as {@link firstByDigest}. */
export function isFirstPayload(first: string, payload: string): boolean {
  return first.startsWith(DIGEST) ? first === firstByDigest(sha1(payload)) : first === payload;
}

/** Digest of the first payload, as hex of its SHA-1. */
export function digestOfFirst(first: string): string {
  return first.startsWith(DIGEST) ? first.slice(DIGEST.length) : sha1(first);
}

function sha1(text: string): string {
  return createHash('sha1').update(text).digest('hex');
}
