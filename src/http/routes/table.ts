/** Every route of the HTTP API. */
import type { Route } from '../calls/route.ts';
import { REST_ROUTES } from './rest.ts';
import { RUN_ROUTES } from './runs.ts';
import { TASK_ROUTES } from './tasks.ts';
import { USER_ROUTES } from './users.ts';

/** In the order in which the document shows them. */
export const ROUTES: readonly Route[] = [
  ...REST_ROUTES,
  ...USER_ROUTES,
  ...TASK_ROUTES,
  ...RUN_ROUTES,
];
