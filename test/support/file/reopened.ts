/** The memory backend as file() has it, whose state is written and read again between calls. */
import { type Carry, carrierOf, partsOf } from '../../../src/backends/file/log/calls.ts';
import { newStore } from '../../../src/backends/file/replay/engine.ts';
import { readState } from '../../../src/backends/file/state/state-reader.ts';
import { writeState } from '../../../src/backends/file/state/state-writer.ts';
import { closeStore, partsOn } from '../../../src/backends/memory/parts.ts';
import { Store } from '../../../src/backends/memory/store/store.ts';
import type { Clock } from '../../../src/base/time.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import type { Backend } from '../../../src/domain/port/backend.ts';
import { mustBeSameState } from './state-text.ts';

/** Of one such backend. */
export interface Reopened {
  readonly backend: Backend;
  /** How often it was. */
  readonly times: number;
}

/** Characters of a state that are worth one call more. */
const LENGTH_PER_CALL = 500;

/** Each so many calls, as soon as none is under way; the longer it takes, the more seldom. */
export function reopenedMemory(clock: Clock, every = 1): Reopened {
  let store: Store = new Store(clock, LIMITS.resendMs);
  let carry = carrierOf(partsOn(store));
  let calls = 0;
  let underWay = 0;
  let times = 0;
  let length = 0;
  const reopen = (): void => {
    const chunks = [...writeState(store)];
    const again = readState(chunks, newStore(clock));
    length = chunks.join('').length;
    mustBeSameState(store, again);
    store.alarm?.timer.cancel();
    store = again;
    carry = carrierOf(partsOn(store));
    times++;
  };
  const carryAndReopen: Carry = async (name, args) => {
    underWay++;
    try {
      return await carry(name, args);
    } finally {
      underWay--;
      calls++;
      if (underWay === 0 && calls >= every + length / LENGTH_PER_CALL) {
        calls = 0;
        reopen();
      }
    }
  };
  return {
    backend: {
      name: 'memory',
      capabilities: { durable: false, shared: true },
      ...partsOf(carryAndReopen),
      open: async ({ retention }) => {
        store.retention = retention;
        return { description: 'reopened between calls', warnings: [] };
      },
      close: async () => closeStore(store),
    },
    get times() {
      return times;
    },
  };
}
