/** Opens the texts of stored records. */

import type { Leased, LeaseReply } from '../domain/port/leasing.ts';
import type { ScheduleRecord } from '../domain/port/schedule.ts';
import { type Cause, readableCause, rewordedCause } from '../domain/task/cause.ts';
import { type RunPause, readablePause } from '../domain/task/pause.ts';
import type {
  AttemptRecord,
  NewTask,
  TaskRecord,
  TaskRow,
  TaskStatus,
} from '../domain/task/task.ts';
import { openError } from './sealed-error.ts';
import { openSpec } from './sealed-spec.ts';
import type { Texts } from './texts.ts';

/** Opens the texts of tasks, schedules and attempts. */
export class SealedRecords {
  readonly texts: Texts;

  constructor(texts: Texts) {
    this.texts = texts;
  }

  newTask(task: NewTask): NewTask {
    return { ...task, payload: this.texts.seal(task.payload, 'input') };
  }

  leaseReply(reply: LeaseReply): LeaseReply {
    if (reply.leases.length === 0) return reply;
    return { ...reply, leases: reply.leases.map((lease) => this.leased(lease)) };
  }

  task(record: TaskRecord): TaskRecord {
    const opened = this.status(record);
    return {
      ...opened,
      payload: this.texts.open(record.payload, 'input'),
      ...(record.paused === undefined ? {} : { paused: openPause(this.texts, record.paused) }),
    };
  }

  row({ payload, ...row }: TaskRow): TaskRow {
    const opened = this.status(row);
    if (row.paused !== undefined && payload === undefined) {
      return { ...opened, paused: openPause(this.texts, row.paused) };
    }
    return payload === undefined ? opened : this.task({ ...opened, payload });
  }

  status<T extends TaskStatus>(record: T): T {
    return { ...record, ...this.#ending(record) };
  }

  attempt(record: AttemptRecord): AttemptRecord {
    return { ...record, ...this.#ending(record) };
  }

  schedule(record: ScheduleRecord): ScheduleRecord {
    return { ...record, spec: openSpec(this.texts, record.spec) };
  }

  all(
    fields: Readonly<Record<string, string>>,
    change: (text: string, name: string) => string,
  ): Readonly<Record<string, string>> {
    const entries = Object.entries(fields).map(
      ([name, text]) => [name, change(text, name)] as const,
    );
    return Object.fromEntries(entries);
  }

  leased(lease: Leased): Leased {
    const { texts } = this;
    const payload = texts.open(lease.payload, 'input');
    if (lease.upstreams.length === 0) return { ...lease, payload };
    const upstreams = lease.upstreams.map((fact) => ({ ...fact, ...this.#ending(fact) }));
    return { ...lease, payload, upstreams };
  }

  #ending({ result, error, cause }: Ending): Ending {
    const { texts } = this;
    return {
      ...(result === undefined ? {} : { result: texts.open(result, 'result') }),
      ...(error === undefined ? {} : { error: openError(texts, error) }),
      ...(cause === undefined ? {} : { cause: this.#cause(cause) }),
    };
  }

  /** Texts of a cause are only displayed: an unreadable one is replaced by a note. */
  #cause(cause: Cause): Cause {
    return readableCause(rewordedCause(cause, (words) => this.texts.open(words, 'reason')));
  }
}

/** Texts of a pause are only displayed, as those of a cause. */
export function openPause<T extends RunPause>(texts: Texts, pause: T): T {
  if (pause.reason === undefined) return pause;
  return readablePause({ ...pause, reason: texts.open(pause.reason, 'reason') });
}

interface Ending {
  readonly result?: string;
  readonly error?: string;
  readonly cause?: Cause;
}
