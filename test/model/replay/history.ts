/** One history: many clients at once, then the replay of what the server did, and the comparison of what is left. */
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { keysOf } from '../../../src/backends/redis/wire/keys.ts';
import type { RedisPlace } from '../../support/redis/redis-server.ts';
import { START_MS } from '../harness.ts';
import { expectedLists, listsOf } from '../lists.ts';
import { expectedState, stateOf } from '../state.ts';
import { BY_AGE } from '../subjects.ts';
import { Actor, type Scene } from './actor.ts';
import { play } from './play.ts';
import { Difference, Replayer, Spread, type Tally } from './replayer.ts';
import { HAND, LOG, recordingScripts } from './scripts.ts';

/** Lines that are read at once. */
const LINES = 200;

export class History {
  readonly replayer: Replayer;
  readonly scene: Scene;
  /** Of all tasks that were stored. */
  readonly ids: Set<string> = new Set();
  readonly #raw: Redis;
  readonly #clock: string;
  readonly #answers = new Map<string, unknown>();
  #read = 0;
  #reading: Promise<void> | undefined;

  private constructor(scene: Scene, replayer: Replayer) {
    this.scene = scene;
    this.#raw = new Redis(scene.place);
    // One that breaks is opened again.
    this.#raw.on('error', () => undefined);
    this.#clock = keysOf(scene.prefix).clock;
    this.replayer = replayer;
  }

  /** Clients of this process alone. */
  static async play(place: RedisPlace, seed: number, calls: number, tally: Tally): Promise<void> {
    await History.judge(place, seed, tally, async (history) => {
      await play({ scene: history.scene, seed, calls, history, name: '', alone: true });
      await history.end();
    });
  }

  /** A history in a namespace of its own, from its begin to its end. */
  static async judge(
    place: RedisPlace,
    seed: number,
    tally: Tally,
    act: (history: History) => Promise<void>,
  ): Promise<void> {
    const scene = { place, prefix: `replay-${process.pid}-${seed}` };
    const history = await History.open(scene, tally);
    try {
      await act(history);
    } catch (error) {
      if (error instanceof Spread) {
        tally.left += 1;
        return;
      }
      if (error instanceof Difference) error.message += `\n\nthe log: ${await history.#keep(seed)}`;
      throw error;
    } finally {
      await history.close();
    }
  }

  /** The first process sets the clock; it goes on as the server's does. */
  static async open(scene: Scene, tally?: Tally): Promise<History> {
    const history = new History(scene, await Replayer.open(tally));
    const [seconds] = await history.#raw.time();
    await history.#raw.hsetnx(history.#clock + HAND, 'offset', START_MS - Number(seconds) * 1_000);
    return history;
  }

  /** A client was answered; compared when its steps have been replayed. */
  answered(id: string, answer: unknown): void {
    this.#answers.set(id, answer);
  }

  /** Replays what the server has done since. */
  read(): Promise<void> {
    this.#reading ??= this.#more().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #more(): Promise<void> {
    const told = [...this.#answers];
    for (;;) {
      const lines = await this.#raw.lrange(this.#clock + LOG, this.#read, this.#read + LINES - 1);
      for (const line of lines) {
        this.#read += 1;
        const { call } = await this.replayer.take(line);
        if (call.type === 'enqueue') for (const { id } of call.tasks) this.ids.add(id);
      }
      if (lines.length < LINES) break;
    }
    for (const [id, answer] of told) {
      this.#answers.delete(id);
      this.replayer.answered(id, answer);
    }
  }

  /** Nothing runs any more: the clock stands still, and what is shown must be the same. */
  async end(): Promise<void> {
    const actor = new Actor(this.scene, recordingScripts());
    try {
      await this.read();
      await this.#raw.hset(this.#clock + HAND, 'still', this.replayer.now + 1);
      await actor.backend.open({ retention: BY_AGE });
      await actor.ask({ id: 'end', call: { type: 'setQueue', queue: 'default', patch: {} } });
      await this.read();
      const { oracle, memory } = this.replayer;
      const ids = [...this.ids];
      const same = this.replayer.mustBe.bind(this.replayer);
      const state = expectedState(oracle, ids);
      same('what memory shows in the end', await stateOf(memory.backend, ids), state);
      same('what Redis shows in the end', await stateOf(actor.backend, ids), state);
      same(
        'what Redis lists in the end',
        await listsOf(actor.backend, ids),
        expectedLists(oracle, ids),
      );
      const { drift } = await actor.backend.inspect.reconcile({ repair: false });
      same('drift', drift, []);
    } finally {
      await actor.close();
    }
  }

  /** Breaks all connections but the one that says so. */
  async cutAll(): Promise<void> {
    await this.#raw.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
  }

  /** The server forgets what it was taught. */
  async flush(): Promise<void> {
    await this.#raw.script('FLUSH');
    await this.#raw.function('FLUSH');
  }

  /** Lets go of a history that others go on with. */
  leave(): void {
    this.#raw.disconnect();
  }

  /** Writes down all steps so far; gives the name of the file. */
  async #keep(seed: number): Promise<string> {
    const lines = await this.#raw.lrange(this.#clock + LOG, 0, this.#read - 1);
    const file = join(tmpdir(), `fairloom-replay-${seed}.log`);
    writeFileSync(file, lines.map((line) => `${line}\n`).join(''));
    return file;
  }

  async close(): Promise<void> {
    const keys = await this.#raw.keys(`${this.scene.prefix}:*`);
    if (keys.length > 0) await this.#raw.unlink(keys);
    this.#raw.disconnect();
    await this.replayer.close();
  }
}
