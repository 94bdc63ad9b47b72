import { AT_ONCE_MUTANTS } from './lists/at-once-mutants.ts';
import { BULK_MUTANTS } from './lists/bulk-mutants.ts';
import { CHANNEL_MUTANTS } from './lists/channel-mutants.ts';
import { DAMAGE_MUTANTS } from './lists/damage-mutants.ts';
import { DATA_FILE_MUTANTS } from './lists/data/file-mutants.ts';
import { DATA_GUEST_MUTANTS } from './lists/data/guest-mutants.ts';
import { DATA_LOG_MUTANTS } from './lists/data/log-mutants.ts';
import { DATA_OWNER_MUTANTS } from './lists/data/owner-mutants.ts';
import { DOMAIN_MUTANTS } from './lists/domain-mutants.ts';
import { EDGE_MUTANTS } from './lists/edge-mutants.ts';
import { ENGINE_MUTANTS, WALK_MUTANTS } from './lists/engine-mutants.ts';
import { FAILURE_MUTANTS } from './lists/failure-mutants.ts';
import { HAND_MUTANTS } from './lists/hand-mutants.ts';
import { MEMORY_MUTANTS } from './lists/memory-mutants.ts';
import { ODD_MUTANTS } from './lists/odd-mutants.ts';
import { PAUSE_MUTANTS } from './lists/pause-mutants.ts';
import { QUEUE_MUTANTS } from './lists/queue-mutants.ts';
import { REDIS_MUTANTS } from './lists/redis-mutants.ts';
import { RUN_MUTANTS } from './lists/run-mutants.ts';
import { SCHEDULE_MUTANTS } from './lists/schedule-mutants.ts';
import { SERIES_MUTANTS } from './lists/series-mutants.ts';
import { STEER_MUTANTS } from './lists/steer-mutants.ts';
import { STORAGE_MUTANTS } from './lists/storage-mutants.ts';
import { STRAIGHT_MUTANTS } from './lists/straight-mutants.ts';
import { STREAM_MUTANTS } from './lists/stream-mutants.ts';
import { EVENT_MUTANTS, WAIT_MUTANTS } from './lists/wait-mutants.ts';
import { WINDOW_MUTANTS } from './lists/window-mutants.ts';
import { XCOM_MUTANTS } from './lists/xcom-mutants.ts';
import type { Mutant } from './mutants.ts';

/** Every mutant, the cheapest to try first. */
export const ALL_MUTANTS: readonly Mutant[] = [
  ...AT_ONCE_MUTANTS,
  ...DOMAIN_MUTANTS,
  ...WALK_MUTANTS,
  ...MEMORY_MUTANTS,
  ...REDIS_MUTANTS,
  ...STORAGE_MUTANTS,
  ...STRAIGHT_MUTANTS,
  ...ODD_MUTANTS,
  ...DAMAGE_MUTANTS,
  ...DATA_LOG_MUTANTS,
  ...DATA_FILE_MUTANTS,
  ...DATA_OWNER_MUTANTS,
  ...DATA_GUEST_MUTANTS,
  ...FAILURE_MUTANTS,
  ...HAND_MUTANTS,
  ...RUN_MUTANTS,
  ...EDGE_MUTANTS,
  ...ENGINE_MUTANTS,
  ...BULK_MUTANTS,
  ...CHANNEL_MUTANTS,
  ...PAUSE_MUTANTS,
  ...QUEUE_MUTANTS,
  ...SCHEDULE_MUTANTS,
  ...EVENT_MUTANTS,
  ...STEER_MUTANTS,
  ...SERIES_MUTANTS,
  ...STREAM_MUTANTS,
  ...WAIT_MUTANTS,
  ...WINDOW_MUTANTS,
  ...XCOM_MUTANTS,
];
