/** What commands show of their operations; one that is not here prints its answer as JSON. */
import type { Shown } from '../terminal/operation-command.ts';
import { ASKS } from './asks.ts';
import { BULK } from './bulk.ts';
import { DEAD } from './dead.ts';
import { ENQUEUE } from './enqueue.ts';
import { MESSAGES } from './messages.ts';
import { WORKERS } from './overview.ts';
import { QUEUES } from './queues.ts';
import { RUNS } from './runs.ts';
import { SCHEDULES } from './schedules.ts';
import { SERIES } from './series.ts';
import { STREAMS } from './streams.ts';
import { TASKS } from './tasks.ts';
import { USERS } from './users.ts';
import { VERSION_COMMAND } from './versions.ts';
import { XCOM } from './xcom.ts';

/** By operation. */
export const OPERATION_COMMANDS: Readonly<Record<string, Shown>> = {
  ...ASKS,
  ...BULK,
  ...DEAD,
  ...ENQUEUE,
  ...MESSAGES,
  ...QUEUES,
  ...RUNS,
  ...SCHEDULES,
  ...SERIES,
  ...STREAMS,
  ...TASKS,
  ...USERS,
  ...VERSION_COMMAND,
  ...WORKERS,
  ...XCOM,
};
