/** The body of a request as JSON. */
import { Refusal } from '../operations/refusal.ts';

/**
 * An empty one is an object without fields.
 *
 * @throws {@link Refusal} for one that is no JSON, or has more bytes than are taken; those are not read.
 */
export async function bodyOf(request: Request, most: number): Promise<unknown> {
  const type = request.headers.get('content-type') ?? '';
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    throw new Refusal('NOT_JSON', 'a change needs Content-Type: application/json');
  }
  const text = await textOf(request, most);
  if (text === '') return {};
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal('INVALID_JSON', 'the body is not JSON');
  }
}

async function textOf({ body }: Request, most: number): Promise<string> {
  if (body === null) return '';
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const reader = body.getReader();
  let bytes = 0;
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes += value.byteLength;
    if (bytes > most) {
      await reader.cancel().catch(() => undefined);
      throw new Refusal('BODY_TOO_LARGE', `a body has at most ${most} bytes`);
    }
    text += decoded(() => decoder.decode(value, { stream: true }));
  }
  return text + decoded(() => decoder.decode());
}

function decoded(decode: () => string): string {
  try {
    return decode();
  } catch {
    throw new Refusal('INVALID_JSON', 'the body is not UTF-8');
  }
}
