/** Streams of servers of Node: a server that closes waits for them, so they end when it does. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { clearInterval, setInterval } from '../base/globals.ts';

/** How often it is looked whether a server still listens, in ms: nothing tells before it has closed. */
const LOOK_MS = 500;

interface OpenStream {
  /** Ends it in order. */
  readonly abort: AbortController;
  /** Whether its server has been closed. */
  readonly isOver: () => boolean;
}

/** All of one handler. */
export class OpenStreams {
  readonly #open = new Map<ServerResponse, OpenStream>();
  #timer: ReturnType<typeof setInterval> | undefined;

  /** Until it has ended. */
  add(request: IncomingMessage, response: ServerResponse, abort: AbortController): void {
    const server: unknown = Reflect.get(request.socket, 'server');
    const isOver = (): boolean => Reflect.get(Object(server), 'listening') === false;
    // The connection would be kept for another request, and the server would wait for that.
    response.shouldKeepAlive = false;
    this.#open.set(response, { abort, isOver });
    response.once('close', () => {
      this.#open.delete(response);
      if (this.#open.size === 0) this.#stop();
    });
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS).unref();
  }

  #look(): void {
    for (const [response, { abort, isOver }] of this.#open) {
      if (!isOver()) continue;
      // A reader that has not taken the end of it by now does not read.
      if (abort.signal.aborted) response.destroy();
      else abort.abort();
    }
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
