/**
 * A TCP proxy between a Redis client and its server that does to them what networks, failing
 * servers and failovers do: it cuts, delays, goes silent, loses requests and replies, and puts
 * replies of its own in the place of the server's.
 *
 * A reply that is lost takes the rest of the connection with it: in a pipelined protocol nothing
 * later may arrive in its place. So "drop" means silence from there on, and then, with `cut`, the
 * end of the connection.
 */
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { commandOf, FrameReader } from './resp.ts';

/** What becomes of a command that a rule chose. */
export type Fault =
  /** The server never sees it; nothing more passes, and `cut` ends the connection at once. */
  | { readonly type: 'lose-request'; readonly cut: boolean }
  /** The server runs it; its reply and all later ones are lost. `cut`: when the reply arrives. */
  | { readonly type: 'lose-reply'; readonly cut: boolean }
  /** The server never sees it; this is the reply, in RESP, for example `-LOADING …\r\n`. */
  | { readonly type: 'answer'; readonly reply: string }
  /** The server runs it; this is the reply. */
  | { readonly type: 'replace'; readonly reply: string };

/** Chooses the fault of a command by its words; undefined lets it pass. */
export type Rule = (command: readonly string[], connection: number) => Fault | undefined;

export interface FaultProxy {
  /** `redis://127.0.0.1:<port>` */
  readonly url: string;
  readonly port: number;
  /** Open connections now, and all that were ever accepted. */
  readonly open: number;
  readonly accepted: number;
  /** When each refused connection was attempted, in ms of `performance.now()`. */
  readonly refusals: readonly number[];
  /** Commands between their request and the reply, now. */
  readonly pending: number;
  /** Every command is shown to the rule, in order; undefined: all pass. */
  setRule(rule: Rule | undefined): void;
  /** Each chunk waits this long, in ms, in both directions. */
  setDelay(ms: number): void;
  /** Connections stay open and nothing passes any more: a half-open network. */
  freeze(): void;
  /** What waited passes again. */
  thaw(): void;
  /** Ends connections abruptly: all, or those that the filter chooses by number. */
  cut(chosen?: (connection: number) => boolean): number;
  /** While refused, a new connection is ended at once, as with a server that is down. */
  refuse(refused: boolean): void;
  close(): Promise<void>;
}

/** The state that all links of one proxy look at. */
interface Mode {
  rule: Rule | undefined;
  delayMs: number;
  frozen: boolean;
  refused: boolean;
}

export async function startFaultProxy(target: {
  readonly port: number;
  readonly host?: string;
}): Promise<FaultProxy> {
  const mode: Mode = { rule: undefined, delayMs: 0, frozen: false, refused: false };
  const links = new Map<number, Link>();
  let accepted = 0;
  const refusals: number[] = [];
  const server = createServer((client) => {
    client.on('error', () => client.destroy());
    if (mode.refused) {
      refusals.push(performance.now());
      client.destroy();
      return;
    }
    accepted += 1;
    const number = accepted;
    const upstream = createConnection({ port: target.port, host: target.host ?? '127.0.0.1' });
    links.set(
      number,
      new Link({ number, client, upstream, mode, ended: () => links.delete(number) }),
    );
  });
  const port = await listen(server);
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    get open() {
      return links.size;
    },
    get accepted() {
      return accepted;
    },
    refusals,
    get pending() {
      return [...links.values()].reduce((sum, link) => sum + link.pending, 0);
    },
    setRule(rule) {
      mode.rule = rule;
    },
    setDelay(ms) {
      mode.delayMs = ms;
    },
    freeze() {
      mode.frozen = true;
    },
    thaw() {
      mode.frozen = false;
      for (const link of links.values()) link.thaw();
    },
    cut(chosen = () => true) {
      const hit = [...links].filter(([number]) => chosen(number));
      for (const [, link] of hit) link.cut();
      return hit.length;
    },
    refuse(refused) {
      mode.refused = refused;
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const link of links.values()) link.cut();
      await closed;
    },
  };
}

interface LinkParts {
  readonly number: number;
  readonly client: Socket;
  readonly upstream: Socket;
  readonly mode: Mode;
  readonly ended: () => void;
}

/** A place in the line of replies: whose it is, and what to do with it. */
type Slot = { readonly from: 'server'; readonly fault: Fault | undefined } | Answered;
type Answered = { readonly from: 'proxy'; readonly reply: string };

/** Commands whose number of replies is not one: from there on bytes pass as they come. */
const STREAMING = new Set(['SUBSCRIBE', 'PSUBSCRIBE', 'SSUBSCRIBE', 'MONITOR', 'PSYNC', 'SYNC']);

/** One client's connection and the one to the server that belongs to it. */
class Link {
  readonly #parts: LinkParts;
  readonly #requests = new FrameReader();
  readonly #replies = new FrameReader();
  readonly #toServer: Pipe;
  readonly #toClient: Pipe;
  /** Replies that are still to come, in order. */
  #slots: Slot[] = [];
  /** A subscription began: replies are not counted any more. */
  #streaming = false;
  /** A request or reply was lost: nothing more passes. */
  #silent = false;

  constructor(parts: LinkParts) {
    this.#parts = parts;
    const { client, upstream, mode } = parts;
    this.#toServer = new Pipe(mode, (chunk) => this.#fromClient(chunk));
    this.#toClient = new Pipe(mode, (chunk) => this.#fromServer(chunk));
    client.setNoDelay(true);
    upstream.setNoDelay(true);
    client.on('data', (chunk) => this.#toServer.push(chunk));
    upstream.on('data', (chunk) => this.#toClient.push(chunk));
    for (const socket of [client, upstream]) {
      socket.on('error', () => this.cut());
      socket.on('close', () => this.cut());
    }
  }

  get pending(): number {
    return this.#slots.length;
  }

  cut(): void {
    this.#parts.client.destroy();
    this.#parts.upstream.destroy();
    this.#toServer.end();
    this.#toClient.end();
    this.#slots = [];
    this.#parts.ended();
  }

  thaw(): void {
    this.#toServer.pump();
    this.#toClient.pump();
  }

  #fromClient(chunk: Buffer): void {
    if (this.#silent) return;
    const { mode, number, upstream } = this.#parts;
    for (const frame of this.#requests.push(chunk)) {
      const command = commandOf(frame);
      const fault = this.#streaming ? undefined : mode.rule?.(command, number);
      if (fault?.type === 'lose-request') {
        this.#lose(fault.cut);
        return;
      }
      if (fault?.type === 'answer') {
        this.#slots.push({ from: 'proxy', reply: fault.reply });
        this.#flushAnswers();
        continue;
      }
      if (STREAMING.has((command[0] ?? '').toUpperCase())) this.#streaming = true;
      if (!this.#streaming) this.#slots.push({ from: 'server', fault });
      upstream.write(frame.bytes);
    }
  }

  #fromServer(chunk: Buffer): void {
    if (this.#silent) return;
    const { client } = this.#parts;
    for (const { bytes, type } of this.#replies.push(chunk)) {
      const slot = type === '>' ? undefined : this.#slots.shift();
      const fault = slot?.from === 'server' ? slot.fault : undefined;
      if (fault?.type === 'lose-reply') {
        this.#lose(fault.cut);
        return;
      }
      client.write(fault?.type === 'replace' ? fault.reply : bytes);
      this.#flushAnswers();
    }
  }

  /** Replies of the proxy whose turn has come. */
  #flushAnswers(): void {
    for (let head = this.#slots[0]; head?.from === 'proxy'; head = this.#slots[0]) {
      this.#slots.shift();
      this.#parts.client.write(head.reply);
    }
  }

  #lose(cut: boolean): void {
    this.#silent = true;
    if (cut) this.cut();
  }
}

/** One direction of a link: chunks in order, each no earlier than the delay in force allows. */
class Pipe {
  readonly #mode: Mode;
  readonly #deliver: (chunk: Buffer) => void;
  #waiting: { readonly chunk: Buffer; readonly due: number }[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(mode: Mode, deliver: (chunk: Buffer) => void) {
    this.#mode = mode;
    this.#deliver = deliver;
  }

  push(chunk: Buffer): void {
    this.#waiting.push({ chunk, due: performance.now() + this.#mode.delayMs });
    this.pump();
  }

  /** Delivers what is due; sets a timer for the next. */
  pump(): void {
    clearTimeout(this.#timer);
    while (!this.#mode.frozen) {
      const head = this.#waiting[0];
      if (head === undefined) return;
      const wait = head.due - performance.now();
      if (wait > 0) {
        this.#timer = setTimeout(() => this.pump(), Math.ceil(wait));
        return;
      }
      this.#waiting.shift();
      this.#deliver(head.chunk);
    }
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#waiting = [];
  }
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      if (typeof address === 'object' && address !== null) resolve(address.port);
      else reject(new Error('the proxy has no port'));
    });
  });
}
