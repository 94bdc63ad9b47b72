/** Merges single calls into one call of the server. */
import { nextTick } from '../../../base/globals.ts';
import { impossible } from '../../../base/never.ts';

/** The calls of one tick: they share a round trip, and each gets its own answer. */
export class Together<T> {
  readonly #send: (names: readonly string[]) => Promise<readonly (T | undefined)[]>;
  readonly #names: string[] = [];
  #answers: Promise<readonly (T | undefined)[]> | undefined;

  /** `send` is called once, and answers for each name in order. */
  constructor(send: (names: readonly string[]) => Promise<readonly (T | undefined)[]>) {
    this.#send = send;
  }

  async ask(name: string): Promise<T> {
    const at = this.#names.push(name) - 1;
    this.#answers ??= new Promise((resolve, reject) => {
      nextTick(() => void this.#send(this.#names).then(resolve, reject));
    });
    return (await this.#answers)[at] ?? impossible(`no answer for ${name}`);
  }
}
