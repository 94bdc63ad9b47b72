/** Stores the step of `Fairloom.enqueue`: a task, or a run of a pipeline. */
import type { Core } from '../core/core.ts';
import { checkOptions } from '../domain/errors/options.ts';
import { ENQUEUE_KEYS, type EnqueueOptions } from '../enqueue/enqueue-options.ts';
import type { TaskHandle } from '../enqueue/handle.ts';
import type { RunHandle } from '../runs/calls/run-handle.ts';
import { type RunTools, submitStep } from '../runs/calls/run-submission.ts';
import { checkRunOptions, type RunEnqueueOptions } from '../runs/run-options.ts';
import { tracedEnqueue } from '../tracing/traced-enqueue.ts';
import { PipelineDefinition, type StepDefinition } from '../workflow/pipeline-definition.ts';
import { definitionOf } from '../workflow/task-definition.ts';

/** Arguments of `Fairloom.enqueue`, not checked yet. */
interface StepCall {
  readonly step: unknown;
  readonly input: unknown;
  readonly options: EnqueueOptions | undefined;
}

/** Slow path of `Fairloom.enqueue`: runs, traced calls, and all that `Enqueuer.enqueueUsual` leaves to it. */
export function enqueueStep(
  core: Core,
  runTools: RunTools,
  { step, input, options }: StepCall,
): Promise<TaskHandle<unknown>> {
  try {
    if (step instanceof PipelineDefinition)
      return enqueueRun(core, runTools, step, [input, options]);
    const definition = definitionOf(step);
    if (definition.dynamic !== undefined) {
      return enqueueRun(core, runTools, definition, [input, options]);
    }
    if (options !== undefined) checkOptions('enqueue', options, ENQUEUE_KEYS);
    const { name, options: defined } = definition;
    const send = async (traced: EnqueueOptions | undefined): Promise<TaskHandle<unknown>> =>
      core.enqueuer.enqueue(definition, input, traced);
    const queue = defined.queue ?? core.maker.base.queue;
    return tracedEnqueue(core, { name, queue, options, send });
  } catch (error) {
    return Promise.reject(error);
  }
}

function enqueueRun(
  core: Core,
  runTools: RunTools,
  step: StepDefinition,
  [input, options = {}]: readonly [unknown, RunEnqueueOptions | undefined],
): Promise<RunHandle<unknown>> {
  checkRunOptions(options);
  const send = (traced: RunEnqueueOptions = {}): Promise<RunHandle<unknown>> =>
    submitStep(runTools, { step, input, options: traced });
  const { queue } = core.maker.base;
  return tracedEnqueue(core, { name: step.name, queue, options, send });
}
