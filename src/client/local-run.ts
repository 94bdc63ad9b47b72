/** Runs a step locally: the same checks, retries, timeout and context, without a backend. */

import type { SubRunner, WaitCall } from '../attempt/attempt-context.ts';
import { LocalChannels } from '../attempt/channels.ts';
import { applyHere } from '../attempt/pending-writes.ts';
import { LocalStreams } from '../attempt/streams.ts';
import { wakeAfterMs } from '../attempt/waits.ts';
import { onAbort } from '../base/abort-watch.ts';
import { sleep } from '../base/pause.ts';
import {
  InvalidOptionError,
  NotStoredError,
  RunCanceledError,
  TaskCanceledError,
} from '../domain/errors/errors.ts';
import { keysOf, type OptionKeys } from '../domain/errors/options.ts';
import { LIMITS } from '../domain/limits.ts';
import type { WaitAnswer } from '../domain/task/wait.ts';
import { NO_OPTIONS } from '../enqueue/enqueue-options.ts';
import { startedAt } from '../graph/graph-start.ts';
import { NodeRun } from '../runs/driven/node-run.ts';
import { maxStepsOf } from '../runs/run-options.ts';
import { beginTrace, type PartRequest, type Trace, untraced } from '../tracing/trace.ts';
import { partSpan, tracedCall } from '../tracing/work.ts';
import { compile } from '../workflow/compile.ts';
import { PipelineDefinition, type StepDefinition } from '../workflow/pipeline-definition.ts';
import { invalidPayload, validate } from '../workflow/standard-schema.ts';
import { definitionOf, type TaskDefinition } from '../workflow/task-definition.ts';
import { type LocalTools, LocalWalk } from './local-walk.ts';

/** Options of a local run. */
export interface RunOptions {
  /** User passed to the handler. Default `default`, unless `requireUser` is set. */
  readonly user?: string | undefined;
  /** Ends the run, which rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Pipelines: see `RunEnqueueOptions.maxSteps`. */
  readonly maxSteps?: number | undefined;
  /** Pipelines: see `RunEnqueueOptions.startAt`. */
  readonly startAt?: string | undefined;
}

/** Keys of {@link RunOptions}. */
export const RUN_KEYS: OptionKeys<RunOptions> = keysOf<RunOptions>()({
  user: true,
  signal: true,
  maxSteps: true,
  startAt: true,
});

/** Common state of a run. */
interface LocalRun {
  readonly user: string;
  readonly channels: LocalChannels;
  /** Limit of each walk in it. */
  readonly maxSteps: number | undefined;
}

/** Arguments of a local run. */
export interface LocalCall {
  /** A task or a pipeline. */
  readonly step: unknown;
  readonly input: unknown;
  readonly user: string;
  readonly signal?: AbortSignal | undefined;
  /** Run that contains the calling handler; absent for a caller of the library. */
  readonly within?: LocalRun;
  /** Trace of the calling handler; absent for a caller of the library. */
  readonly trace?: Trace;
  /** See `RunEnqueueOptions`; for pipelines. */
  readonly maxSteps?: number | undefined;
  /** See `RunEnqueueOptions`; for pipelines. */
  readonly startAt?: string | undefined;
}

/** Runs a step to its end; rejects with the error of its handler. */
export function runHere(tools: LocalTools, call: LocalCall): Promise<unknown> {
  const { step } = call;
  if (step instanceof PipelineDefinition) return walkHere(tools, call, step);
  const definition = definitionOf(step);
  if (definition.dynamic !== undefined) return walkHere(tools, call, definition);
  demandWalk(call);
  return runTask(tools, call, definition);
}

/** A plain task has no other start than itself, and takes one step. */
function demandWalk(call: LocalCall): void {
  for (const option of ['maxSteps', 'startAt'] as const) {
    if (call[option] === undefined) continue;
    throw new InvalidOptionError(option, 'none for a task: only a pipeline has it', call[option]);
  }
}

/** A trace of its own, or a part of its handler's trace. */
function traceOf(tools: LocalTools, { trace }: LocalCall, name: string): Trace {
  const request = (): PartRequest => partSpan({ kind: 'run', name, runId: undefined });
  if (trace !== undefined) return trace.part(request);
  if (tools.tracer === undefined) return untraced(undefined);
  return beginTrace(tools, { ...request(), parent: 'active' });
}

async function runTask(
  tools: LocalTools,
  call: LocalCall,
  definition: TaskDefinition,
): Promise<unknown> {
  const { input, user, signal = new AbortController().signal } = call;
  const whole = runOf(call);
  const { channels } = whole;
  signal.throwIfAborted();
  const payload = tools.codec.payload(definition.name, input);
  if (definition.input !== undefined) {
    const result = await validate(definition.input, input);
    if (!result.ok) throw invalidPayload(result);
  }
  const taskId = tools.newId();
  const trace = traceOf(tools, call, definition.name);
  const run = new NodeRun(tools, {
    definition,
    handler: tools.handlers.handler(definition),
    plan: tools.plans.planFor(definition, NO_OPTIONS, undefined),
    payload,
    taskId,
    user,
    holder: {
      fencingToken: tools.clock.now() * MICROSECONDS,
      streams: new LocalStreams(taskId, tools.codec),
    },
    trace,
    node: undefined,
    signal,
    runId: undefined,
    runnerFor: () => runnerOf(tools, whole),
    channels,
    writer: '',
    cycles: undefined,
    failures: 0,
    releases: 0,
    isPatient: false,
    maxWaitMs: LIMITS.delayMaxMs,
  });
  return tracedCall(trace, async () => {
    const end = await run.run();
    if (end.type === 'returned') {
      await applyHere(tools, channels, end.writes);
      return tools.codec.read(end.text);
    }
    if (end.type === 'failed') throw end.error;
    throw new TaskCanceledError(taskId, end.type === 'canceled' ? end.cause : { type: 'request' });
  });
}

async function walkHere(
  tools: LocalTools,
  call: LocalCall,
  step: StepDefinition,
): Promise<unknown> {
  const { input, user, startAt, signal = new AbortController().signal } = call;
  const run = runOf(call);
  const { channels, maxSteps } = run;
  signal.throwIfAborted();
  const { codec } = tools;
  const whole = compile(step);
  const graph = startAt === undefined ? whole : startedAt(whole, startAt);
  const given = codec.read(codec.payload(step.name, input));
  const trace = traceOf(tools, call, step.name);
  const runnerFor = (): SubRunner => runnerOf(tools, run);
  const walk = new LocalWalk({ ...tools, runnerFor, channels }, { step, user, trace, maxSteps });
  return tracedCall(trace, async () => {
    // One listener for the whole run: each node checks the signal while it runs.
    const unwatch = onAbort([signal], () => undefined);
    const block = { graph, block: graph, input: given, isMember: false };
    const ending = await walk.walk(block, signal).finally(unwatch);
    switch (ending.type) {
      case 'finished':
      case 'terminated':
        return codec.read(codec.result(step.name, ending.value));
      case 'failed':
        throw ending.error;
      case 'canceled':
        throw new RunCanceledError(ending.cause);
    }
  });
}

function runOf({ within, user, maxSteps }: LocalCall): LocalRun {
  return within ?? { user, channels: new LocalChannels(), maxSteps: maxStepsOf(maxSteps) };
}

/** Steps that a handler runs are run here too, one after the other as in a stored run. */
function runnerOf(tools: LocalTools, within: LocalRun): SubRunner {
  const { user } = within;
  let before: Promise<unknown> = Promise.resolve();
  return {
    run: ({ step, input, signal, trace }) => {
      const turn = before.then(() => runHere(tools, { step, input, user, signal, trace, within }));
      before = turn.catch(() => undefined);
      return turn;
    },
    wait: (call) => waitHere(tools, call),
    repeats: async () => false,
  };
}

/** Waits for times only; a task that is not stored gets no signals, events or answers. */
async function waitHere({ clock }: LocalTools, { wait, signal }: WaitCall): Promise<WaitAnswer> {
  if (wait.kind !== 'time') {
    throw new NotStoredError(wait.kind === 'ask' ? 'an answer' : `${wait.kind} ${wait.name}`);
  }
  await sleep(clock, wakeAfterMs(wait.wakeAt, clock.now()) ?? 0, signal);
  signal.throwIfAborted();
  return { by: 'time', at: clock.now(), payload: '' };
}

/** Tokens count in microseconds of the clock. */
const MICROSECONDS = 1_000;
