/** All benches, in the order of the page. */
import type { Bench } from './kit/bench.ts';
import { bothAtOnce } from './rows/both-at-once.ts';
import { delayed } from './rows/delayed.ts';
import { delayedSteady } from './rows/delayed-steady.ts';
import { drivenCheckpoints } from './rows/driven-checkpoints.ts';
import { drivenNodes } from './rows/driven-nodes.ts';
import { durableBatches } from './rows/durable-batches.ts';
import { durableBoth } from './rows/durable-both.ts';
import { durableInFlight } from './rows/durable-in-flight.ts';
import { durableMillion } from './rows/durable-million.ts';
import { durableOneByOne } from './rows/durable-one-by-one.ts';
import { durableProcess } from './rows/durable-process.ts';
import { durableSecondProcess } from './rows/durable-second-process.ts';
import { embedded } from './rows/embedded.ts';
import { embeddedHeap } from './rows/embedded-heap.ts';
import { enqueueBatches } from './rows/enqueue-batches.ts';
import { enqueueInFlight } from './rows/enqueue-in-flight.ts';
import { enqueueOneByOne } from './rows/enqueue-one-by-one.ts';
import { flows } from './rows/flows.ts';
import { graphLoad } from './rows/graph-load.ts';
import { graphMemory } from './rows/graph-memory.ts';
import { group } from './rows/group.ts';
import { idleLatency } from './rows/idle-latency.ts';
import { leaseCost } from './rows/lease-cost.ts';
import { listPages } from './rows/list-pages.ts';
import { longestScripts } from './rows/longest-scripts.ts';
import { metricsScrape } from './rows/metrics-scrape.ts';
import { noisyUser } from './rows/noisy-user.ts';
import { process1Slot } from './rows/process-1-slot.ts';
import { process10Slots } from './rows/process-10-slots.ts';
import { process100Slots } from './rows/process-100-slots.ts';
import { processDurable } from './rows/process-durable.ts';
import { processTwoProcesses } from './rows/process-two-processes.ts';
import { schedules } from './rows/schedules.ts';
import { streams } from './rows/streams.ts';
import { taskLife } from './rows/task-life.ts';
import { waitingMemory } from './rows/waiting-memory.ts';
import { weightedShare } from './rows/weighted-share.ts';

export const BENCHES: readonly Bench[] = [
  enqueueBatches,
  enqueueInFlight,
  enqueueOneByOne,
  process100Slots,
  processTwoProcesses,
  processDurable,
  process10Slots,
  process1Slot,
  bothAtOnce,
  taskLife,
  idleLatency,
  streams,
  waitingMemory,
  delayed,
  delayedSteady,
  schedules,
  noisyUser,
  weightedShare,
  leaseCost,
  embedded,
  embeddedHeap,
  durableOneByOne,
  durableInFlight,
  durableBatches,
  durableProcess,
  durableBoth,
  durableSecondProcess,
  durableMillion,
  group,
  flows,
  drivenNodes,
  drivenCheckpoints,
  graphLoad,
  graphMemory,
  metricsScrape,
  listPages,
  longestScripts,
];
