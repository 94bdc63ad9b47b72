/**
 * Stored values of channels. A store appends to lists and adds to numbers without decrypting them:
 * so each element of a list is encrypted separately, numbers are not encrypted, and any other value
 * is a JSON text that contains the encrypted one.
 */
import { type ChannelWrite, type ChannelWrites, isNumber } from '../domain/task/channel.ts';
import { isSealed } from '../domain/task/sealed-text.ts';
import type { Texts } from './texts.ts';

/** The same writes, encrypted. */
export function sealWrites<T extends ChannelWrites>(texts: Texts, channel: T): T {
  return { ...channel, writes: channel.writes.map((write) => sealWrite(texts, write)) };
}

function sealWrite(texts: Texts, write: ChannelWrite): ChannelWrite {
  switch (write.type) {
    case 'set':
      return { ...write, text: sealValue(texts, write.text) };
    case 'append':
      return { ...write, text: sealElements(texts, `[${write.text}]`) };
    case 'add':
    case 'delete':
      return write;
  }
}

function sealValue(texts: Texts, text: string): string {
  if (isNumber(text) || isSealed(text)) return text;
  return text.startsWith('[') ? `[${sealElements(texts, text)}]` : quoted(texts, text);
}

function sealElements(texts: Texts, list: string): string {
  const elements: readonly unknown[] = JSON.parse(list);
  return elements.map((element) => quoted(texts, JSON.stringify(element))).join(',');
}

function quoted(texts: Texts, text: string): string {
  return JSON.stringify(texts.seal(text, 'channel'));
}

/** JSON text of a stored value; if a part cannot be read the value stays encrypted. */
export function openValue(texts: Texts, text: string): string {
  if (isNumber(text)) return text;
  const stored: unknown = parsed(text);
  if (!Array.isArray(stored)) return openQuoted(texts, stored, text);
  const elements = stored.map((one: unknown) => openQuoted(texts, one, JSON.stringify(one)));
  return elements.find(isSealed) ?? `[${elements.join(',')}]`;
}

function openQuoted(texts: Texts, stored: unknown, text: string): string {
  // Values other than texts were not encrypted.
  return texts.open(typeof stored === 'string' && isSealed(stored) ? stored : text, 'channel');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
