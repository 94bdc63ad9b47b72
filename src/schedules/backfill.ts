import { inChunks } from '../base/chunks.ts';
import { type FairloomError, InvalidOptionError } from '../domain/errors/errors.ts';
import { LIMITS } from '../domain/limits.ts';
import type { Backend } from '../domain/port/backend.ts';
import { refusalError } from '../domain/port/refusal.ts';
import { type KnownSchedule, taskOf } from './spec.ts';

/** Result of a backfill, by slot. */
export interface BackfillReport {
  /** Slots whose tasks were stored. */
  readonly created: readonly number[];
  /** Slots whose tasks were stored before, or whose idempotency key returned another task. */
  readonly existing: readonly number[];
  /** Slots whose tasks were refused, each with its error. */
  readonly refused: readonly {
    /** Instant of the slot, in ms since the epoch. */
    readonly slot: number;
    /** The error that an enqueue would throw. */
    readonly error: FairloomError;
  }[];
}

interface Stretch {
  readonly id: string;
  readonly known: KnownSchedule;
  readonly from: number;
  readonly to: number;
}

/** Tasks per call of the backend. */
const AT_ONCE = 100;

/** Stores the tasks of the slots in a range. */
export async function backfill(backend: Backend, stretch: Stretch): Promise<BackfillReport> {
  const { id, known } = stretch;
  const slots = slotsOf(stretch);
  const created: number[] = [];
  const existing: number[] = [];
  const refused: { readonly slot: number; readonly error: FairloomError }[] = [];
  for (const some of inChunks(slots, AT_ONCE)) {
    const tasks = some.map((slot) => taskOf(id, known.spec, { slot }));
    const replies = await backend.tasks.enqueue(tasks, { atomic: false });
    for (const [index, reply] of replies.entries()) {
      const slot = some[index] ?? 0;
      // A task with another input: the schedule had that at the slot.
      const isThere = reply.kind === 'refused' && reply.refusal.type === 'task-conflict';
      if (reply.kind === 'created') created.push(slot);
      else if (reply.kind === 'existing' || isThere) existing.push(slot);
      else refused.push({ slot, error: refusalError(tasks[index]?.id ?? '', reply.refusal) });
    }
  }
  return { created, existing, refused };
}

function slotsOf({ known, from, to }: Stretch): readonly number[] {
  const slots: number[] = [];
  for (let slot = known.all.next(from - 1); slot !== undefined && slot <= to; ) {
    if (slots.length === LIMITS.backfillMax) {
      throw new InvalidOptionError('from', `a range of at most ${LIMITS.backfillMax} slots`, from);
    }
    slots.push(slot);
    slot = known.all.next(slot);
  }
  return slots;
}
