/** The clock of a worker's machine is set by an hour: lengths of time within the process are what they were. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Clock, Timer } from '../../../src/base/time.ts';
import type { Fairloom } from '../../../src/client/client.ts';
import { Pace } from '../../../src/client/facades/pace.ts';
import type { TaskContext } from '../../../src/workflow/task-context.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { everyBackend, opened } from '../../support/backends.ts';

/** The clock of a machine that is set while a process runs: timers and elapsed time go on as before. */
class SetClock implements Clock {
  readonly #under: Clock;
  #setBy = 0;

  constructor(under: Clock) {
    this.#under = under;
  }

  now(): number {
    return this.#under.now() + this.#setBy;
  }

  elapsed(): number {
    return this.#under.now();
  }

  setTimer(ms: number, fire: () => void): Timer {
    return this.#under.setTimer(ms, fire);
  }

  set(ms: number): void {
    this.#setBy += ms;
  }
}

const HOUR_MS = 3_600_000;

/** Until it is to end. */
const forever = (_input: unknown, { signal }: TaskContext): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });

const brief = task('brief', { timeout: '10s', retries: 0 }, forever);
const long = task('long', { timeout: '10m', retries: 0 }, forever);

everyBackend((open) => {
  describe.each([
    { set: 'on', ms: HOUR_MS },
    { set: 'back', ms: -HOUR_MS },
  ])('set $set', ({ ms }) => {
    const harness = opened(open);
    let clock: SetClock;
    let loom: Fairloom;
    beforeEach(async () => {
      clock = new SetClock(harness.clock);
      loom = harness.loom([brief, long], { clock });
    });

    const stateOf = async (id: string): Promise<string | undefined> =>
      (await harness.backend.inspect.get([id]))[0]?.state;

    // F97
    it('a timeout ends its own attempt, when its time has passed', async () => {
      await loom.worker({ concurrency: 3 }).start();
      const [first, other] = [await loom.enqueue(brief), await loom.enqueue(long)];
      await harness.clock.advance('2s');
      clock.set(ms);
      await harness.clock.advance('7s');
      expect([await stateOf(first.id), await stateOf(other.id)]).toEqual(['started', 'started']);
      const next = await loom.enqueue(brief);
      await harness.clock.advance('6s');
      expect([await stateOf(first.id), await stateOf(next.id)]).toEqual(['failed', 'started']);
      await harness.clock.advance('20s');
      expect([await stateOf(next.id), await stateOf(other.id)]).toEqual(['failed', 'started']);
    });

    // F97
    it('who waits for a result waits as long as was said', async () => {
      const handle = await loom.enqueue(long);
      const over: unknown[] = [];
      const wait = handle.result({ timeout: '10s' }).catch((error) => over.push(error.code));
      await harness.clock.advance('2s');
      clock.set(ms);
      await harness.clock.advance('5s');
      expect(over).toEqual([]);
      await harness.clock.advance('10s');
      await wait;
      expect(over).toEqual(['RESULT_TIMEOUT']);
    });

    // F97
    it('a worker all of whose slots are taken looks after what falls due', async () => {
      await loom.worker({ concurrency: 1, lease: '10m' }).start();
      await loom.enqueue(long);
      const { id } = await loom.enqueue(brief, undefined, { delay: '5s' });
      await harness.clock.advance('2s');
      clock.set(ms);
      await harness.clock.advance('5s');
      expect(await stateOf(id)).toBe('queued');
    });

    // F97
    it('changes at a rate go on at that rate', async () => {
      const pace = new Pace({ limit: 1, perMs: 1_000, burst: 1 }, clock, clock.now());
      const { signal } = new AbortController();
      await pace.turn(signal);
      clock.set(ms);
      let turns = 0;
      const turn = (): Promise<void> => pace.turn(signal).then(() => void turns++);
      const both = Promise.all([turn(), turn()]);
      await harness.clock.advance('1s');
      expect(turns).toBe(1);
      await harness.clock.advance('1s');
      await both;
      expect(pace.tat).toBe(clock.now() + 1_000);
    });
  });
});
