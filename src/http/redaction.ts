/** What is not shown of what tasks were given, gave and said. */
import { isPlainObject } from '../base/records.ts';

/** Stands where something is not shown. */
const REDACTED = '[redacted]';

/** Fields of answers whose value, of any shape, is a caller's or a handler's own. */
const PAYLOADS: ReadonlySet<string> = new Set([
  'input',
  'result',
  'metadata',
  'value',
  'form',
  'fields',
  'answer',
]);

/** A hash of the words of an error: who guesses these sees that the guess is right. */
const FINGERPRINT = 'fingerprint';

/** Fields that are words of handlers, in which such values may stand. */
const WORDS: ReadonlySet<string> = new Set([
  'message',
  'stack',
  'title',
  'comment',
  'reason',
  'text',
]);

/** What is said where payloads are left out instead of why a task does not run, of the kinds that tell a reason. */
const OWN_WORDS: ReadonlyMap<unknown, string> = new Map([
  ['ended', 'it has ended'],
  ['run-paused', 'its run is paused'],
]);

/** Texts that are so short are no secrets, and stand everywhere. */
const LEAST_SECRET = 4;

/** Changes an answer before it is written. */
export type Redaction = (answer: unknown) => unknown;

/**
 * What patterns name is replaced, wherever it begins: `*.password` is a password in anything, `card.*` all of a
 * card. In words, the values that were found in the same answer are replaced too, and what follows such a
 * key as in `password=…`. With `hides` payloads and words are left out whole.
 */
export function redaction(patterns: readonly string[], hides: boolean): Redaction {
  if (hides) return withoutPayloads;
  if (patterns.length === 0) return (answer) => answer;
  const rules = patterns.map((pattern) => pattern.split('.'));
  const inWords = wordRule(rules);
  return (answer) => {
    const secrets = new Set<string>();
    const shown = redacted(answer, { rules, secrets, path: [], isPayload: false });
    return inText(
      shown,
      [...secrets].sort((a, b) => b.length - a.length),
      inWords,
    );
  };
}

interface Walk {
  readonly rules: readonly (readonly string[])[];
  /** What was replaced. */
  readonly secrets: Set<string>;
  readonly path: readonly string[];
  /** It is inside of a payload. */
  readonly isPayload: boolean;
}

function redacted(value: unknown, walk: Walk): unknown {
  const { rules, secrets, path, isPayload } = walk;
  if (isPayload && rules.some((rule) => endsWith(path, rule))) {
    collect(value, secrets);
    return REDACTED;
  }
  if (Array.isArray(value)) {
    return value.map((one: unknown, at) => redacted(one, { ...walk, path: [...path, String(at)] }));
  }
  if (!isPlainObject(value)) return value;
  const shown = Object.entries(value).filter(([key]) => isPayload || key !== FINGERPRINT);
  const fields = shown.map(([key, one]) => {
    const inside = {
      rules,
      secrets,
      path: [...path, key],
      isPayload: isPayload || PAYLOADS.has(key),
    };
    return [key, redacted(one, inside)] as const;
  });
  return Object.fromEntries(fields);
}

function endsWith(path: readonly string[], rule: readonly string[]): boolean {
  const start = path.length - rule.length;
  return start >= 0 && rule.every((part, at) => part === '*' || part === path[start + at]);
}

/** Every text in what was replaced. */
function collect(value: unknown, secrets: Set<string>): void {
  if (typeof value === 'object' && value !== null) {
    for (const one of Object.values(value)) collect(one, secrets);
    return;
  }
  const text = String(value);
  if (text.length >= LEAST_SECRET) secrets.add(text);
}

function inText(value: unknown, secrets: readonly string[], inWords: RegExp | undefined): unknown {
  if (Array.isArray(value)) return value.map((one: unknown) => inText(one, secrets, inWords));
  if (!isPlainObject(value)) return value;
  const fields = Object.entries(value).map(([key, one]) => {
    if (typeof one !== 'string' || !WORDS.has(key)) {
      return [key, inText(one, secrets, inWords)] as const;
    }
    const hidden = secrets.reduce((text, secret) => text.replaceAll(secret, REDACTED), one);
    return [
      key,
      inWords === undefined ? hidden : hidden.replace(inWords, `$1${REDACTED}`),
    ] as const;
  });
  return Object.fromEntries(fields);
}

/** `password=…`, `"password": "…"`: what follows the last key of a pattern, up to a blank or the closing quote. */
function wordRule(rules: readonly (readonly string[])[]): RegExp | undefined {
  const keys = rules.flatMap((rule) => rule.at(-1) ?? []).filter((key) => key !== '*');
  if (keys.length === 0) return undefined;
  const names = keys.map((key) => key.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');
  return new RegExp(
    `((?<![\\w-])(?:${names})\\\\?["']?\\s*[:=]\\s*)(?:\\\\?"(?:[^"\\\\]|\\\\.)*"|'[^']*'|[^\\s,;&)}\\]]+)`,
    'gi',
  );
}

function withoutPayloads(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPayloads);
  if (!isPlainObject(value)) return value;
  const fields = Object.entries(value).flatMap(([key, one]): (readonly [string, unknown])[] => {
    if (PAYLOADS.has(key) || key === FINGERPRINT) return [];
    // The API itself has made it.
    if (key === 'text') return [[key, OWN_WORDS.get(value['kind']) ?? one]];
    const isWords = typeof one === 'string' && WORDS.has(key);
    return [[key, isWords ? '' : withoutPayloads(one)]];
  });
  return Object.fromEntries(fields);
}
