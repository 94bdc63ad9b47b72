import { CHANNEL_MUTANTS } from './channel-mutants.ts';
import { DAMAGE_MUTANTS } from './damage-mutants.ts';
import { DOMAIN_MUTANTS } from './domain-mutants.ts';
import { EDGE_MUTANTS } from './edge-mutants.ts';
import { ENGINE_MUTANTS, WALK_MUTANTS } from './engine-mutants.ts';
import { HAND_MUTANTS } from './hand-mutants.ts';
import { MEMORY_MUTANTS } from './memory-mutants.ts';
import type { Mutant } from './mutants.ts';
import { ODD_MUTANTS } from './odd-mutants.ts';
import { PAUSE_MUTANTS } from './pause-mutants.ts';
import { QUEUE_MUTANTS } from './queue-mutants.ts';
import { REDIS_MUTANTS } from './redis-mutants.ts';
import { RUN_MUTANTS } from './run-mutants.ts';
import { SCHEDULE_MUTANTS } from './schedule-mutants.ts';
import { STEER_MUTANTS } from './steer-mutants.ts';
import { STORAGE_MUTANTS } from './storage-mutants.ts';
import { STRAIGHT_MUTANTS } from './straight-mutants.ts';
import { STREAM_MUTANTS } from './stream-mutants.ts';
import { EVENT_MUTANTS, WAIT_MUTANTS } from './wait-mutants.ts';
import { WINDOW_MUTANTS } from './window-mutants.ts';
import { XCOM_MUTANTS } from './xcom-mutants.ts';

/** Every mutant, the cheapest to try first. */
export const ALL_MUTANTS: readonly Mutant[] = [
  ...DOMAIN_MUTANTS,
  ...WALK_MUTANTS,
  ...MEMORY_MUTANTS,
  ...REDIS_MUTANTS,
  ...STORAGE_MUTANTS,
  ...STRAIGHT_MUTANTS,
  ...ODD_MUTANTS,
  ...DAMAGE_MUTANTS,
  ...HAND_MUTANTS,
  ...RUN_MUTANTS,
  ...EDGE_MUTANTS,
  ...ENGINE_MUTANTS,
  ...CHANNEL_MUTANTS,
  ...PAUSE_MUTANTS,
  ...QUEUE_MUTANTS,
  ...SCHEDULE_MUTANTS,
  ...EVENT_MUTANTS,
  ...STEER_MUTANTS,
  ...STREAM_MUTANTS,
  ...WAIT_MUTANTS,
  ...WINDOW_MUTANTS,
  ...XCOM_MUTANTS,
];
