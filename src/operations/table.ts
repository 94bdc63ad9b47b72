/** Every operation. */
import { ASK_OPERATIONS } from './asks.ts';
import { BULK_OPERATIONS } from './bulk.ts';
import type { Operation } from './operation.ts';
import { QUEUE_OPERATIONS } from './queues.ts';
import { RUN_CHANGES } from './run-changes.ts';
import { RUN_OPERATIONS } from './runs.ts';
import { SCHEDULE_OPERATIONS } from './schedules.ts';
import { STORE_OPERATIONS } from './store.ts';
import { TASK_CHANGES } from './task-changes.ts';
import { TASK_OPERATIONS } from './tasks.ts';
import { USER_OPERATIONS } from './users.ts';
import { XCOM_OPERATIONS } from './xcom.ts';

/** In the order in which documents show them. */
export const OPERATIONS: readonly Operation[] = [
  ...STORE_OPERATIONS,
  ...TASK_OPERATIONS,
  ...TASK_CHANGES,
  ...RUN_OPERATIONS,
  ...RUN_CHANGES,
  ...SCHEDULE_OPERATIONS,
  ...ASK_OPERATIONS,
  ...BULK_OPERATIONS,
  ...USER_OPERATIONS,
  ...QUEUE_OPERATIONS,
  ...XCOM_OPERATIONS,
];
