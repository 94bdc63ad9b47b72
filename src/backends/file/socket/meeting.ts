import { connect, type Socket } from 'node:net';
import type { Clock } from '../../../base/time.ts';
import {
  BackendUnavailableError,
  BackendUnsupportedError,
  isOwn,
} from '../../../domain/errors/errors.ts';
import { type Guest, SocketGuest } from './guest.ts';
import { Patience } from './patience.ts';
import { type DataPlace, ownerName } from './place.ts';
import { codeOf } from './system-code.ts';
import {
  FrameReader,
  FrameWriter,
  type Greeting,
  greetingOf,
  PROTOCOL,
  readGreeting,
} from './wire.ts';

/**
 * The result of connecting to an owner. `dead`: no process has its socket open · `silent`: it does not answer
 * · `leaving`: it went, or hung up, so the search starts again · `busy`: too many wait to be let in.
 */
export type Meeting =
  | { readonly kind: 'guest'; readonly guest: Guest }
  | { readonly kind: 'dead' | 'silent' | 'leaving' | 'busy' };

/** How to meet it. */
export interface MeetingOptions {
  readonly clock: Clock;
  /** For errors. */
  readonly operation: string;
  /** It was silent before. */
  readonly wasSilent: boolean;
}

/** What is no failure; all other errors are. */
const KINDS: ReadonlyMap<string, 'dead' | 'leaving' | 'busy'> = new Map([
  ['ECONNREFUSED', 'dead'],
  ['ENOENT', 'leaving'],
  ['ECONNRESET', 'leaving'],
  ['EPIPE', 'leaving'],
  ['EAGAIN', 'busy'],
]);

/**
 * Connects to the owner of this epoch, and waits until it greets.
 *
 * @throws `BackendUnsupportedError` when it speaks another protocol, `BackendUnavailableError` when it may not be asked.
 */
export async function meet(
  place: DataPlace,
  epoch: number,
  options: MeetingOptions,
): Promise<Meeting> {
  const { clock, operation, wasSilent } = options;
  const address = place.addressOf(ownerName(epoch));
  const socket = connect(address.path);
  const patience = new Patience({ place, epoch, clock, wasSilent });
  const reader = new FrameReader();
  try {
    const greeting = await greetingOn(socket, reader, { patience, epoch });
    if (typeof greeting === 'string') return { kind: greeting };
    if (greeting.fairloom !== PROTOCOL) throw otherProtocol(place.folder, greeting);
    // It is not the one whose name its file has: the folder is a copy that was made with its sockets.
    if (greeting.epoch !== epoch) {
      socket.destroy();
      return { kind: 'leaving' };
    }
    const { folder } = place;
    const lasting = new Patience({ place, epoch, clock, wasSilent: false });
    const guest = new SocketGuest({ socket, reader, greeting, patience: lasting, clock, folder });
    return { kind: 'guest', guest };
  } catch (error) {
    const kind = KINDS.get(codeOf(error));
    if (kind !== undefined) return { kind };
    socket.destroy();
    if (isOwn(error)) throw error;
    throw new BackendUnavailableError(operation, error);
  } finally {
    patience.end();
    address.forget();
  }
}

interface Waiting {
  readonly patience: Patience;
  readonly epoch: number;
}

function greetingOn(
  socket: Socket,
  reader: FrameReader,
  { patience, epoch }: Waiting,
): Promise<Greeting | 'silent' | 'leaving'> {
  return new Promise((resolve, reject) => {
    const end = (act: () => void): void => {
      socket.off('data', take);
      socket.off('close', leave);
      // Errors of a socket that is given up do not matter.
      socket.off('error', fail);
      socket.on('error', () => undefined);
      act();
    };
    const giveUp = (kind: 'silent' | 'leaving'): void => {
      end(() => resolve(kind));
      socket.destroy();
    };
    const leave = (): void => giveUp('leaving');
    const fail = (error: unknown): void => end(() => reject(error));
    const take = (piece: Buffer): void => {
      try {
        reader.add(piece);
        const text = reader.next();
        if (text === undefined) return;
        const greeting = readGreeting(text);
        end(() => resolve(greeting));
      } catch (error) {
        fail(error);
      }
    };
    socket.on('data', take);
    socket.on('close', leave);
    socket.on('error', fail);
    new FrameWriter(socket).send(JSON.stringify(greetingOf(epoch)));
    patience.begin({ ask: () => undefined, silent: () => giveUp('silent') });
  });
}

function otherProtocol(folder: string, { fairloom, pid }: Greeting): BackendUnsupportedError {
  return new BackendUnsupportedError(
    `process ${pid} has ${folder} open and speaks protocol ${fairloom}, this one ${PROTOCOL}: all processes of a folder need the same version`,
  );
}
