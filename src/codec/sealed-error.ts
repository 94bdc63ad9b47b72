/**
 * Errors as they are stored. Backends cut those of older attempts to `LIMITS.oldErrorBytes`, and half of
 * an encrypted text is nothing: so a long error stands there twice, first in short and then in full.
 */
import { cut } from '../base/as-data.ts';
import { LIMITS } from '../domain/limits.ts';
import { isSealed } from '../domain/task/sealed-text.ts';
import type { Texts } from './texts.ts';

/** Between the two, and after the second: so it can be seen whether that is whole. */
const END = '\n';

/** What fits when it is encrypted, in bytes of JSON: a third goes to base64, and a little to the key. */
const HEAD_BYTES = Math.floor(LIMITS.oldErrorBytes * 0.6);

/** A JSON text of an error, encrypted. */
export function sealError(texts: Texts, text: string): string {
  const whole = texts.seal(text, 'error');
  if (Buffer.byteLength(whole) <= LIMITS.oldErrorBytes) return whole;
  return `${texts.seal(headOf(text), 'error')}${END}${whole}${END}`;
}

/** The JSON text in it, or as much as is left of that. */
export function openError(texts: Texts, text: string): string {
  const [head = '', whole = '', rest] = text.split(END);
  if (!isSealed(head)) return texts.open(text, 'error');
  return texts.open(rest === undefined ? head : whole, 'error');
}

/** Name and the beginning of the message. */
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
