/** Histories of calls, as lines of a log, with some looks between them. */
import { carrierOf, kindOf, partsOf } from '../../../src/backends/file/log/calls.ts';
import { lineOf } from '../../../src/backends/file/replay/engine.ts';
import { SeededRandom } from '../../chaos/seeded-random.ts';
import { runHistories } from '../../model/check.ts';
import type { Subject } from '../../model/harness.ts';
import { recordedSubject } from '../../support/file/recorded.ts';

/** Calls of a history, in order: `[moment, name, argument, …]`. */
export type History = readonly string[];

/** Of a history. */
const LEAST = 60;

/** Among so many one is mostly long enough; else there are others of a seed so far away. */
const SOME = 12;
const APART = 1_000_003;

/** The model looks at everything after each step; one look of so many is kept. */
const LOOKS = 150;

/** A history of the model with enough calls, the same for the same seed; its first calls. */
export async function historyOf(seed: number, most: number): Promise<History> {
  const chance = new SeededRandom(seed);
  for (let from = seed; ; from += APART) {
    const all: string[][] = [];
    const open = async (): Promise<readonly Subject[]> => {
      const lines: string[] = [];
      all.push(lines);
      return [await noted(lines, chance)];
    };
    const { failure } = await runHistories(open, { runs: SOME, seed: from, quick: true });
    if (failure !== undefined) throw new Error(failure.error);
    const first = all.find(({ length }) => length >= LEAST);
    if (first !== undefined) return first.slice(0, most);
  }
}

async function noted(lines: string[], chance: SeededRandom): Promise<Subject> {
  let now = 0;
  let isFirst = true;
  const subject = await recordedSubject((line) => {
    // How long ended tasks are kept is said by who opens the data.
    if (!isFirst) lines.push(line.trimEnd());
    isFirst = false;
  });
  const carry = carrierOf(subject.backend);
  const parts = partsOf(async (name, args) => {
    const isKept = name !== 'retention' && kindOf(name) === 'look' && chance.next() < 1 / LOOKS;
    if (isKept) lines.push(lineOf(now, name, args).trimEnd());
    return carry(name, args);
  });
  return {
    ...subject,
    backend: { ...subject.backend, ...parts },
    setClock: (ms) => {
      now = ms;
      return subject.setClock(ms);
    },
  };
}
