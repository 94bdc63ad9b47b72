import { expect as check, describe, expect, it } from 'vitest';
import {
  argsOf,
  type Carry,
  carrierOf,
  jsonArgs,
  jsonReply,
  kindOf,
  partsOf,
  replyOf,
} from '../../../src/backends/file/log/calls.ts';
import { memory } from '../../../src/backends/memory/memory-backend.ts';
import { isRecord } from '../../../src/base/records.ts';
import { describeBackend, type Harness } from '../../../src/conformance.ts';
import { HandClock } from '../../support/hand-clock.ts';
import { rounds } from '../../support/rounds.ts';
import { AT_SCALE, someCases } from '../../support/some-cases.ts';
import { guestOf, newFolder, ownerOf, removeFolders, requestsOf } from './kit.ts';

/** Fails when JSON changes what is asked or answered, but for fields that are undefined. */
function checked(carry: Carry): Carry {
  return async (name, args) => {
    const given = kindOf(name) === 'wait' ? args.slice(0, -1) : args;
    const arrived = throughJson(jsonArgs(name, given));
    check(changeOf(given, argsOf(name, Array.isArray(arrived) ? arrived : []), name)).toBe('');
    const reply = await carry(name, args);
    const answer = replyOf(name, throughJson(jsonReply(name, reply)));
    check(changeOf(reply, answer, `${name} answers`)).toBe('');
    return reply;
  };
}

/** The first place where a value is not as it was, objects of classes included; empty: there is none. */
function changeOf(before: unknown, after: unknown, place: string): string {
  if (!isRecord(before) || !isRecord(after)) return Object.is(before, after) ? '' : place;
  if (Object.getPrototypeOf(before) !== Object.getPrototypeOf(after)) return place;
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const change = changeOf(before[key], after[key], `${place}.${key}`);
    if (change !== '') return change;
  }
  return '';
}

function throughJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null));
}

const some = someCases({ describe, it, expect }, { every: rounds(1, 6), never: AT_SCALE });

describeBackend('memory by a guest', some, async (): Promise<Harness> => {
  const clock = new HandClock();
  const backend = memory({ clock });
  const folder = newFolder();
  const owner = await ownerOf(folder);
  const carry = requestsOf(checked(carrierOf(backend)));
  owner.listen(() => carry);
  const guest = await guestOf(folder);
  return {
    backend: {
      name: 'guest',
      capabilities: backend.capabilities,
      ...partsOf(guest.carry),
      open: (settings) => backend.open(settings),
      close: async () => {
        await backend.close();
        await guest.close();
      },
    },
    advance: async (ms) => {
      // What was asked before has come to the owner.
      await guest.carry('inspect.ping', []);
      clock.move(ms);
    },
    now: () => clock.now(),
    close: async () => {
      await guest.close();
      await owner.release();
      removeFolders();
    },
  };
});
