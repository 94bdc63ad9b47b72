/**
 * A process that claims the folder it is given, and again whenever that is over. It says a line of JSON for everything
 * that happens; what it is to do, it reads from its input, whose end is its own.
 */
import { createInterface } from 'node:readline';
import { type Carry, carrierOf } from '../../../src/backends/file/log/calls.ts';
import { claim, type Guest, type OwnerClaim } from '../../../src/backends/file/socket/ownership.ts';
import { memory } from '../../../src/backends/memory/memory-backend.ts';
import { systemClock } from '../../../src/base/system-clock.ts';
import type { Clock } from '../../../src/base/time.ts';

const [, , folder = '', speed = '1', isIdle = ''] = process.argv;
/** Time may pass faster here, as far as owners and guests are concerned. */
const clock: Clock = {
  now: () => systemClock.now(),
  setTimer: (ms, fire) => systemClock.setTimer(ms / Number(speed), fire),
};
const calls = carrierOf(memory());
let owner: OwnerClaim | undefined;
let guest: Guest | undefined;
let isLeaving = false;

function say(event: string, more: object = {}): void {
  process.stdout.write(`${JSON.stringify({ event, at: Date.now(), ...more })}\n`);
}

/** Serves what it is asked; the queue `never` is not found, nor not found. */
const carry: Carry = async (name, args) => {
  if (name === 'queues.get' && args[0] === 'never') return new Promise(() => undefined);
  return name === 'retention' ? undefined : calls(name, args);
};

async function enter(silent?: number): Promise<void> {
  const claimed = await claim(folder, { clock, operation: 'open', silent });
  if (claimed.kind === 'guest') {
    ({ guest } = claimed);
    say('guest', { epoch: guest.epoch });
    await guest.gone;
    say('gone', { isSilent: guest.isSilent });
    const { isSilent, epoch } = guest;
    guest = undefined;
    return isLeaving ? undefined : enter(isSilent ? epoch : undefined);
  }
  owner = claimed;
  owner.listen(() => carry);
  say('owner', { epoch: owner.epoch });
  await owner.over;
  say('over');
  owner = undefined;
}

async function act(word: string): Promise<void> {
  switch (word) {
    case 'enter':
      isLeaving = false;
      await enter();
      break;
    case 'owns':
      say('owns', { owns: owner?.stillOwns() ?? false });
      break;
    case 'call':
    case 'never':
      say('called');
      await guest?.carry('queues.get', [word]).then(
        () => say('answered'),
        (error: unknown) => say('refused', { code: Reflect.get(Object(error), 'code') }),
      );
      break;
    case 'leave':
      isLeaving = true;
      await guest?.close();
      await owner?.release();
      say('left');
      break;
  }
}

/** Enters and has nothing else to do: neither an owner nor a guest keeps a process alive. */
async function idle(): Promise<void> {
  const claimed = await claim(folder, { clock, operation: 'open' });
  if (claimed.kind === 'owner') claimed.listen(() => carry);
  else void claimed.guest.carry('inspect.waitForEnd', ['t', 60_000, new AbortController().signal]);
  say(claimed.kind);
  // A call does, as long as it is under way.
  if (claimed.kind === 'guest') await claimed.guest.carry('inspect.ping', []);
  say('answered');
}

async function obey(): Promise<void> {
  const fail = (error: unknown): void => say('failed', { why: String(error) });
  createInterface({ input: process.stdin })
    .on('line', (word) => void act(word).catch(fail))
    .on('close', () => process.exit());
  say('ready');
}

await (isIdle === '' ? obey() : idle());
