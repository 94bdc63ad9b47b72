/** Questions and events as stored by scripts; see lua/lib/steps/wait.lua. */
import type { AskRecord, AskSpec } from '../../../domain/task/ask.ts';
import { readClosing } from '../../../domain/task/ask.ts';
import { type Flat, text } from './decode.ts';

/** Fields of a question in a reply. */
export const ASK_FIELDS = 8;

/** A question as JSON, where `for` has another name: it is a keyword of Lua. */
export function askSpecText({ for: names, ...spec }: AskSpec): string {
  return JSON.stringify({ ...spec, names });
}

/** Parses the text of {@link askSpecText}. */
export function readAskSpec(json: string): AskSpec {
  const { names, ...spec }: Omit<AskSpec, 'for'> & { readonly names: readonly string[] } =
    JSON.parse(json);
  return { ...spec, for: names };
}

/** A question in a reply from `at` on. */
export function askRecordAt(reply: Flat, at: number): AskRecord {
  const [taskId = '', , task = '', user = '', asked, over, json = '', closing = ''] = reply
    .slice(at, at + ASK_FIELDS)
    .map(text);
  return {
    ...readAskSpec(json),
    taskId,
    task,
    user,
    askedAt: Number(asked),
    ...(over === '' ? {} : { until: Number(over) }),
    ...(closing === '' ? {} : { closing: readClosing(closing) }),
  };
}

/** Name and key of an event, as a unique text. */
export function eventPair({ name, key }: { readonly name: string; readonly key: string }): string {
  return `${Buffer.byteLength(name)}:${name}${key}`;
}

/** Parses the text of {@link eventPair}: names are ASCII. */
export function readEventPair(pair: string): { readonly name: string; readonly key: string } {
  const from = pair.indexOf(':') + 1;
  const to = from + Number(pair.slice(0, from - 1));
  return { name: pair.slice(from, to), key: pair.slice(to) };
}
