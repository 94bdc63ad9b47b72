/** A step run here and now: the same checks, retries, timeout and context, and no backend. */
import { InvalidPayloadError, RunCanceledError, TaskCanceledError } from '../domain/errors.ts';
import { LIMITS } from '../domain/limits.ts';
import { compile } from '../workflow/compile.ts';
import { PipelineDefinition, type StepDefinition } from '../workflow/pipeline-definition.ts';
import { validate } from '../workflow/standard-schema.ts';
import { definitionOf, type TaskDefinition } from '../workflow/task-definition.ts';
import type { SubRunner } from './attempt-context.ts';
import { NO_OPTIONS } from './enqueue-options.ts';
import { NodeRun } from './node-run.ts';
import { type LocalTools, LocalWalk } from './runs/local-walk.ts';

/** Who runs what. */
export interface LocalCall {
  /** A task or a pipeline. */
  readonly step: unknown;
  readonly input: unknown;
  readonly user: string;
  readonly signal: AbortSignal | undefined;
}

/** Runs a step to its end; rejects with what its handler threw. */
export function runHere(tools: LocalTools, call: LocalCall): Promise<unknown> {
  const { step } = call;
  if (step instanceof PipelineDefinition) return walkHere(tools, call, step);
  const definition = definitionOf(step);
  if (definition.dynamic !== undefined) return walkHere(tools, call, definition);
  return runTask(tools, call, definition);
}

async function runTask(
  tools: LocalTools,
  { input, user, signal = new AbortController().signal }: LocalCall,
  definition: TaskDefinition,
): Promise<unknown> {
  signal.throwIfAborted();
  const payload = tools.codec.payload(definition.name, input);
  if (definition.input !== undefined) {
    const result = await validate(definition.input, input);
    if (!result.ok) throw new InvalidPayloadError(result.path, result.message);
  }
  const taskId = tools.newId();
  const end = await new NodeRun(tools, {
    definition,
    handler: tools.handlers.handler(definition),
    plan: tools.plans.planFor(definition, NO_OPTIONS),
    payload,
    taskId,
    user,
    fencingToken: tools.clock.now() * MICROSECONDS,
    traceparent: undefined,
    signal,
    runId: undefined,
    runner: runnerOf(tools, user),
    cycles: undefined,
    failures: 0,
    releases: 0,
    isPatient: false,
    maxWaitMs: LIMITS.delayMaxMs,
  }).run();
  if (end.type === 'returned') return tools.codec.read(end.text);
  if (end.type === 'failed') throw end.error;
  throw new TaskCanceledError(taskId, end.type === 'canceled' ? end.reason : '');
}

async function walkHere(
  tools: LocalTools,
  { input, user, signal = new AbortController().signal }: LocalCall,
  step: StepDefinition,
): Promise<unknown> {
  signal.throwIfAborted();
  const { codec } = tools;
  const graph = compile(step);
  const given = codec.read(codec.payload(step.name, input));
  const walk = new LocalWalk({ ...tools, runner: runnerOf(tools, user) }, step, user);
  const ending = await walk.walk({ graph, block: graph, input: given, isMember: false }, signal);
  switch (ending.type) {
    case 'finished':
    case 'terminated':
      return codec.read(codec.result(step.name, ending.value));
    case 'failed':
      throw ending.error;
    case 'canceled':
      throw new RunCanceledError(ending.reason);
  }
}

/** What a handler runs is run here too. */
function runnerOf(tools: LocalTools, user: string): SubRunner {
  return ({ step, input, signal }) => runHere(tools, { step, input, user, signal });
}

/** Tokens count in microseconds of the clock. */
const MICROSECONDS = 1_000;
