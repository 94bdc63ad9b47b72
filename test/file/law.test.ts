/** What was written under a law is replayed under it: the same steps have the same answers in every version. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { LAW } from '../../src/backends/file/log/segment.ts';
import { answersOf } from '../support/file/answers.ts';

interface Recorded {
  readonly law: number;
  readonly histories: readonly { readonly answers: string; readonly lines: readonly string[] }[];
}

const url = new URL('../fixtures/law/law.json', import.meta.url);
const { law, histories }: Recorded = JSON.parse(readFileSync(url, 'utf8'));

const CHANGED =
  'the engine decides otherwise than it did when logs of this law were written: raise LAW in src/backends/file/log/segment.ts, then npx tsx test/fixtures/law/make.ts';

describe('the law of the engine', () => {
  it('is the one under which its answers were written down', () => {
    expect(LAW).toBe(law);
  });

  it.each(histories.map((history, at) => ({ at, ...history })))(
    'answers history $at as it did',
    async ({ answers, lines }) => {
      expect(lines.length).toBeGreaterThan(20);
      expect(await answersOf(lines), CHANGED).toBe(answers);
    },
  );
});
