import { inChunks } from '../base/chunks.ts';
import { type FairloomError, InvalidOptionError } from '../domain/errors/errors.ts';
import { LIMITS } from '../domain/limits.ts';
import type { Backend } from '../domain/port/backend.ts';
import { refusalError } from '../domain/port/refusal.ts';
import { type KnownSchedule, taskOf } from './spec.ts';

/** The outcome of a backfill, by slot. */
export interface BackfillReport {
  /** Slots whose tasks were stored. */
  readonly created: readonly number[];
  /** Slots whose tasks were stored before, or whose idempotency key answered with another. */
  readonly existing: readonly number[];
  /** Slots whose tasks were refused, each with the reason. */
  readonly refused: readonly {
    /** The instant that the schedule names, in ms since the epoch. */
    readonly slot: number;
    /** As an enqueue would have thrown it. */
    readonly error: FairloomError;
  }[];
}

interface Stretch {
  readonly id: string;
  readonly known: KnownSchedule;
  readonly from: number;
  readonly to: number;
}

/** Tasks that go to the backend together. */
const AT_ONCE = 100;

/** Stores the tasks of a stretch of slots. */
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
      // Another task of the same slot: the schedule had another input then.
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
      throw new InvalidOptionError(
        'from',
        `a stretch of at most ${LIMITS.backfillMax} slots`,
        from,
      );
    }
    slots.push(slot);
    slot = known.all.next(slot);
  }
  return slots;
}
