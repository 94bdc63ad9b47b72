/** F13: causes are data. Nothing is decided by the text of a message or by the words of a cause. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

/** A comparison, a search or a match of a text that was written for people. */
const TEXT = String.raw`(?:message|reason|stack)`;
const DECIDES = new RegExp(
  [
    String.raw`[.?]${TEXT}\??\.(?:startsWith|endsWith|includes|indexOf|match|matchAll|search|split)\(`,
    String.raw`[.?]${TEXT} (?:===|!==) (?!undefined|null|''|'string')`,
    String.raw`(?:===|!==) [\w.?]+[.?](?:message|reason)\b(?!\()`,
    String.raw`\b(?:messageOf|causeText|tellingOf)\([^)]*\)\.(?:startsWith|endsWith|includes|indexOf|match|search)\(`,
    String.raw`\.(?:test|exec)\([^()]*[.?](?:message|reason)\b`,
    String.raw`\.(?:test|exec)\((?:messageOf|causeText)\(`,
    String.raw`\b(?:reason|message)\??\.(?:startsWith|endsWith|match)\(`,
  ].join('|'),
);

/** Answers of foreign systems that have no code: where, and why there is no other way. */
const FOREIGN: Readonly<Record<string, string>> = {
  'src/cli/commands/drain.ts': 'says what it waits for once, until that is another sentence',
  'src/backends/redis/connection/failures.ts':
    'a Redis server tells its errors by the first word of a message',
};

// F13
it('no decision depends on the text of a message or the words of a cause', () => {
  const found = sources('src').flatMap((path) => offences(path, readFileSync(path, 'utf8')));
  expect(found.filter((one) => !(one.path in FOREIGN))).toEqual([]);
  // What is excused is there still.
  expect(new Set(found.map(({ path }) => path))).toEqual(new Set(Object.keys(FOREIGN)));
});

it.each([
  "if (record.reason?.startsWith('upstream ')) return;",
  'if (error.message === CLOSED) return;',
  "if (error.message.includes('timeout')) return;",
  'return record.reason === `run ${owner} has ended`;',
  'if (/NOSCRIPT/.test(error.message)) return;',
  'if (CLOSED === record.reason) return;',
  "if (causeText(cause).startsWith('upstream')) return;",
  "if (messageOf(error).includes('gone')) return;",
  // F13
])('finds %s', (line) => {
  expect(offences('x.ts', line)).toHaveLength(1);
});

it.each([
  'if (reason === undefined) return;',
  'const text = error.message.slice(0, 200);',
  "if (cause.type === 'upstream') return;",
  'if (cause.reason === undefined) return;',
  // F13
])('lets %s pass', (line) => {
  expect(offences('x.ts', line)).toEqual([]);
});

function offences(path: string, text: string): readonly { path: string; line: string }[] {
  return text
    .split('\n')
    .filter((line) => DECIDES.test(line))
    .map((line) => ({ path, line: line.trim() }));
}

function sources(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return sources(path);
    return path.endsWith('.ts') && !path.endsWith('.generated.ts') ? [path] : [];
  });
}
