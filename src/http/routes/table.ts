/** Every route of the HTTP API. */
import type { Route } from '../calls/route.ts';
import { BULK_ROUTES } from './bulk.ts';
import { REST_ROUTES } from './rest.ts';
import { RUN_CHANGES } from './run-changes.ts';
import { RUN_ROUTES } from './runs.ts';
import { SETTING_ROUTES } from './settings.ts';
import { TASK_CHANGES } from './task-changes.ts';
import { TASK_ROUTES } from './tasks.ts';
import { USER_ROUTES } from './users.ts';

/** In the order in which the document shows them. */
export const ROUTES: readonly Route[] = [
  ...REST_ROUTES,
  ...USER_ROUTES,
  ...TASK_ROUTES,
  ...RUN_ROUTES,
  ...TASK_CHANGES,
  ...RUN_CHANGES,
  ...SETTING_ROUTES,
  ...BULK_ROUTES,
];
