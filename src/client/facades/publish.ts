import type { SharedBackend } from '../../backends/shared-backend.ts';
import { utf8Bytes } from '../../base/json.ts';
import type { Duration } from '../../base/time.ts';
import type { ValueCodec } from '../../codec/codec.ts';
import {
  BackendUnavailableError,
  InvalidOptionError,
  InvalidPayloadError,
} from '../../domain/errors/errors.ts';
import { checkOptions, keysOf, type OptionKeys } from '../../domain/errors/options.ts';
import { checkId, checkName } from '../../domain/fairness/names.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { EventStart, ScheduleRecord } from '../../domain/port/backend.ts';
import { refusalError } from '../../domain/port/refusal.ts';
import type { TaskMaker } from '../../enqueue/task-maker.ts';
import { SpecCache, type StartingEvent, taskOfEvent } from '../../schedules/spec.ts';
import { checkedBy, isSchema, type StandardSchemaV1 } from '../../workflow/standard-schema.ts';
import { durationOption } from '../../workflow/task-options.ts';

/** Options of a published event. */
export interface PublishOptions<T = unknown> {
  /** User whose tasks receive it. Default `default`, unless `requireUser` is set. */
  readonly user?: string | undefined;
  /** Id of the event, a text of 1–128 bytes: while it is kept, a repeated id changes nothing. */
  readonly eventId?: string | undefined;
  /** How long it is kept for waits with `within`: 1 min to 1 d. Default 1 h. */
  readonly keep?: Duration | undefined;
  /** Checks the payload before it is stored. */
  readonly schema?: StandardSchemaV1<unknown, T> | undefined;
}

const KEYS: OptionKeys<PublishOptions> = keysOf<PublishOptions>()({
  user: true,
  eventId: true,
  keep: true,
  schema: true,
});

/** Most tries while schedules change. */
const TRIES = 20;

/** By text, so one cache for all clients of the process. */
const SPECS = new SpecCache();

const DAY_MS = 86_400_000;

/** Dependencies of a publish. */
interface PublishTools {
  readonly connection: SharedBackend;
  readonly codec: ValueCodec;
  readonly maker: TaskMaker;
  readonly newId: () => string;
}

/** Publishes an event; see `Fairloom.publish`. */
export async function publishEvent(
  { connection, codec, maker, newId }: PublishTools,
  [name, key, payload]: readonly [name: string, key: string, payload: unknown],
  options: PublishOptions,
): Promise<'published' | 'repeated'> {
  checkOptions('publish', options, KEYS);
  const { schema, eventId, keep = LIMITS.eventKeepMs } = options;
  const user = maker.userOf(options.user);
  const event = {
    name: checkName('event', name),
    key: checkId('key', key),
    eventId: eventId === undefined ? newId() : checkId('eventId', eventId),
    keepMs: durationOption('keep', keep, { least: LIMITS.eventLeastMs, most: DAY_MS }),
  };
  if (schema !== undefined && !isSchema(schema)) {
    throw new InvalidOptionError('schema', 'a Standard Schema', schema);
  }
  await checkedBy(`event ${name}`, schema, payload);
  const text = codec.payload(`event ${name}`, payload);
  if (utf8Bytes(text) > LIMITS.eventBytes) {
    throw new InvalidPayloadError('$', `more than ${LIMITS.eventBytes} bytes (event ${name})`);
  }
  const { waits } = await connection.open();
  const stored = { ...event, payload: text };
  let starts: readonly EventStart[] = [];
  for (let tries = 0; tries < TRIES; tries++) {
    const reply = await waits.publish(user, stored, starts);
    switch (reply.kind) {
      case 'schedules':
        starts = reply.schedules.map((record) => startOf(record, { ...event, payload }, codec));
        break;
      case 'refused':
        throw refusalError(reply.id, reply.refusal);
      case 'repeated':
        // Only this call knows a generated id: its first answer was lost.
        return eventId === undefined ? 'published' : reply.kind;
      case 'published':
        return reply.kind;
    }
  }
  throw new BackendUnavailableError('publish', 'its schedules change too often');
}

/** The task that a schedule starts for the event. */
function startOf(
  { id: schedule, revision, spec: text }: ScheduleRecord,
  event: StartingEvent,
  codec: ValueCodec,
): EventStart {
  const task = taskOfEvent(schedule, SPECS.of(schedule, text).spec, { event, codec });
  return { schedule, revision, ...(task === undefined ? {} : { task }) };
}
