/**
 * Stored errors. Backends cut those of older attempts to `LIMITS.oldErrorBytes`, and a part of an
 * encrypted text is useless: so a long error is stored twice, first abridged and then in full.
 */
import { cut } from '../base/as-data.ts';
import { LIMITS } from '../domain/limits.ts';
import { isSealed } from '../domain/task/sealed-text.ts';
import type { Texts } from './texts.ts';

/** Ends both texts, so that a cut second one can be detected. */
const END = '\n';

/** JSON bytes that fit when encrypted: base64 takes a third, the key a little. */
const HEAD_BYTES = Math.floor(LIMITS.oldErrorBytes * 0.6);

/** A JSON text of an error, encrypted. */
export function sealError(texts: Texts, text: string): string {
  const whole = texts.seal(text, 'error');
  if (Buffer.byteLength(whole) <= LIMITS.oldErrorBytes) return whole;
  return `${texts.seal(headOf(text), 'error')}${END}${whole}${END}`;
}

/** The JSON text of an error, abridged if the full one was cut. */
export function openError(texts: Texts, text: string): string {
  const [head = '', whole = '', rest] = text.split(END);
  if (!isSealed(head)) return texts.open(text, 'error');
  return texts.open(rest === undefined ? head : whole, 'error');
}

/** Name and start of the message. */
function headOf(text: string): string {
  let facts: Readonly<Record<string, unknown>>;
  try {
    facts = Object(JSON.parse(text));
  } catch {
    facts = { message: text };
  }
  const name = String(facts['name'] ?? 'Error').slice(0, 100);
  const message = String(facts['message'] ?? '');
  for (let length = HEAD_BYTES; length > 0; length = Math.floor(length / 2)) {
    const head = JSON.stringify({ name, message: cut(message, length) });
    if (Buffer.byteLength(head) <= HEAD_BYTES) return head;
  }
  return JSON.stringify({ name: 'Error', message: '' });
}
