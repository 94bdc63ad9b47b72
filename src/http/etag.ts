/** Answers of reads, named by what is in them: who has one already is sent no other. */
import { createHash } from 'node:crypto';

/** Characters of the name: no two answers meet by chance. */
const LENGTH = 22;

/** The same answer with its `ETag`; 304 without a body when the request says, by `If-None-Match`, that it has it. */
export async function withEtag(request: Request, answered: Response): Promise<Response> {
  const { status, headers } = answered;
  // A file of JSON lines is none of these: it is read page by page.
  const isJson = /^application\/json(?:;|$)/.test(headers.get('content-type') ?? '');
  if (request.method !== 'GET' || status !== 200 || !isJson) return answered;
  const text = await answered.text();
  const digest = createHash('sha256').update(text).digest('base64url');
  const etag = `"${digest.slice(0, LENGTH)}"`;
  headers.set('etag', etag);
  if (!isNamed(request.headers.get('if-none-match'), etag)) return new Response(text, { headers });
  headers.delete('content-type');
  return new Response(null, { status: 304, headers });
}

/** Names may be several, and marked as weak by a proxy that has compressed the answer. */
function isNamed(asked: string | null, etag: string): boolean {
  const names = asked?.split(',').map((name) => name.trim().replace(/^W\//, '')) ?? [];
  return names.includes(etag) || names.includes('*');
}
