/** Ends of a connection that keep to no protocol. */
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';

/** A connection that does what the test says. */
export class RawSocket {
  readonly socket: Socket;
  /** Messages as they came. */
  readonly received: unknown[] = [];
  /** Fulfilled when the other side has hung up. */
  readonly closed: Promise<void>;
  /** Fulfilled with false once it is connected, with true when it cannot be. */
  readonly isRefused: Promise<boolean>;
  #bytes: Buffer = Buffer.alloc(0);
  readonly #looks: (() => void)[] = [];

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('error', () => undefined);
    socket.on('data', (piece: Buffer) => this.#take(piece));
    this.isRefused = new Promise((resolve) => {
      socket.once('connect', () => resolve(false)).once('error', () => resolve(true));
    });
    this.closed = new Promise((resolve) => {
      socket.once('close', () => resolve());
    });
  }

  static to(folder: string, epoch: number): RawSocket {
    return new RawSocket(connect(join(folder, `owner-${String(epoch).padStart(8, '0')}`)));
  }

  /** Sends messages; all at once. */
  send(...messages: readonly unknown[]): void {
    this.socket.write(Buffer.concat(messages.map((message) => frame(JSON.stringify(message)))));
  }

  /** Until so many have come. */
  async count(messages: number): Promise<void> {
    while (this.received.length < messages) {
      await new Promise<void>((resolve) => this.#looks.push(resolve));
    }
  }

  #take(piece: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, piece]);
    while (this.#bytes.length >= 4) {
      const end = 4 + this.#bytes.readUInt32BE(0);
      if (this.#bytes.length < end) break;
      this.received.push(JSON.parse(this.#bytes.toString('utf8', 4, end)));
      this.#bytes = this.#bytes.subarray(end);
    }
    for (const look of this.#looks.splice(0)) look();
  }
}

/** A message as it stands on the wire. */
export function frame(text: string): Buffer {
  const bytes = Buffer.from(text);
  const head = Buffer.alloc(4);
  head.writeUInt32BE(bytes.length);
  return Buffer.concat([head, bytes]);
}

/** Listens where an owner would, and does with those who connect what the test says. */
export async function rawOwner(
  folder: string,
  epoch: number,
  act: (raw: RawSocket) => void,
): Promise<Server> {
  const server = createServer((socket) => act(new RawSocket(socket)));
  await new Promise<void>((resolve) => {
    server.listen(join(folder, `owner-${String(epoch).padStart(8, '0')}`), resolve);
  });
  return server;
}
