/** The readers: open pages, and people who click. */
import { get } from 'node:http';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';

/** Between two clicks, in ms. */
const CALL_EVERY_MS = 50;

/** Subjects that pages on the screens watch. */
const SCREENS = [
  'overview',
  'users:default',
  'queues,workers',
  'user:u1',
  'dead,errors',
  'runs:started',
];

/** Routes that screens call. */
const PATHS = [
  'overview',
  'users?limit=50',
  'users/u7',
  'tasks?state=queued&user=u9',
  'dead',
  'queues',
];

/** One open page: the change stream of its screen. */
export class OpenPage {
  frames = 0;
  readonly #request: ReturnType<typeof get>;

  /** Pages with other numbers show other screens. */
  constructor(port: number, number: number) {
    const watch = SCREENS[number % SCREENS.length];
    const url = `http://127.0.0.1:${port}/api/v1/events?watch=${watch}`;
    this.#request = get(url, (response) => {
      if (response.statusCode !== 200) throw new Error(`${watch}: ${response.statusCode}`);
      response.on('data', (chunk: Buffer) => {
        if (chunk.includes('event: change')) this.frames++;
      });
    });
    this.#request.on('error', () => undefined);
  }

  close(): void {
    this.#request.destroy();
  }
}

/** Calls one after the other, with their times in ms by path. */
export class Calls {
  readonly times = new Map<string, number[]>();
  #isOver = false;

  constructor(port: number) {
    this.#run(port).catch((error: unknown) => this.#isOver || Promise.reject(error));
  }

  stop(): void {
    this.#isOver = true;
  }

  /** Until it is stopped, or the server has ended. */
  async #run(port: number): Promise<void> {
    for (let turn = 0; !this.#isOver; turn++) {
      const path = PATHS[turn % PATHS.length] ?? '';
      const from = performance.now();
      const answer = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`);
      await answer.arrayBuffer();
      if (!answer.ok) throw new Error(`${answer.url}: ${answer.status}`);
      const times = this.times.get(path) ?? [];
      times.push(performance.now() - from);
      this.times.set(path, times);
      await pause(CALL_EVERY_MS);
    }
  }
}
