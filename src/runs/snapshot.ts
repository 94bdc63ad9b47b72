/**
 * Text of a graph as it is stored: a letter for the encoding, then the body. `p`: plain; `d`:
 * deflated, as base64. Long texts are compressed outside the event loop.
 */
import { promisify } from 'node:util';
import { deflateRaw, deflateRawSync, inflateRaw, inflateRawSync } from 'node:zlib';
import { GraphCorruptError } from '../domain/errors/errors.ts';

/** Shorter texts are stored uncompressed, in bytes. */
const UNDEFLATED_BYTES = 10_240;

/** From this size on a better compression level is used, in bytes. */
const DENSE_BYTES = 102_400;

/** Longer texts are compressed by the thread pool, in bytes. */
const ASYNC_BYTES = 65_536;

/** Longest text that is decompressed, in bytes: a damaged snapshot must not exhaust memory. */
const MOST_BYTES = 268_435_456;

const QUICK = 6;
const DENSE = 9;

const packLater = promisify<Buffer, { readonly level: number }, Buffer>(deflateRaw);
const unpackLater = promisify<Buffer, { readonly maxOutputLength: number }, Buffer>(inflateRaw);

/** The body of a snapshot. */
export async function packGraph(text: string): Promise<string> {
  const bytes = Buffer.from(text);
  if (bytes.length < UNDEFLATED_BYTES) return `p${text}`;
  const options = { level: bytes.length > DENSE_BYTES ? DENSE : QUICK };
  const packed =
    bytes.length > ASYNC_BYTES ? await packLater(bytes, options) : deflateRawSync(bytes, options);
  return `d${packed.toString('base64')}`;
}

/**
 * The text in the body of a snapshot.
 *
 * @throws {@link GraphCorruptError} when the body is invalid.
 */
export async function unpackGraph(hash: string, body: string): Promise<string> {
  if (body.startsWith('p')) return body.slice(1);
  if (!body.startsWith('d')) throw new GraphCorruptError(hash, 'its format is unknown');
  const packed = Buffer.from(body.slice(1), 'base64');
  const options = { maxOutputLength: MOST_BYTES };
  try {
    const bytes =
      packed.length > ASYNC_BYTES
        ? await unpackLater(packed, options)
        : inflateRawSync(packed, options);
    return bytes.toString();
  } catch {
    throw new GraphCorruptError(hash, 'it cannot be decompressed');
  }
}
