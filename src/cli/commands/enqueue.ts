import { Option } from 'commander';
import { present } from '../../base/records.ts';
import type { Duration } from '../../base/time.ts';
import type { Fairloom } from '../../client/client.ts';
import type { EnqueueOptions } from '../../enqueue/enqueue-options.ts';
import type { TaskHandle } from '../../enqueue/handle.ts';
import { RUN_FORMS, type RunEnqueueOptions } from '../../runs/run-options.ts';
import { untyped } from '../../workflow/notation/notation.ts';
import { TaskDefinition } from '../../workflow/task-definition.ts';
import { durationArgument, integerArgument } from '../terminal/arguments.ts';
import { shows } from '../terminal/operation-command.ts';
import { jsonLines, type Output } from '../terminal/output.ts';
import { demandTaskName } from '../views/by-name.ts';
import type { JsonShapes } from '../views/json-shapes.ts';
import type { ShownBy } from '../views/shown.ts';
import { resultSaying } from '../views/wait.ts';

interface Input extends EnqueueOptions {
  readonly name: string;
  readonly input?: unknown;
}

interface Options extends Pick<RunEnqueueOptions, 'form' | 'maxSteps' | 'startAt'> {
  readonly wait?: Duration | true;
}

/** `fairloom enqueue <name> [input]`: a task by its name, or a pipeline that a module exports. */
export const ENQUEUE: ShownBy = {
  enqueue: shows<Input, Options>(
    async ({ loom, output, steps, input: given, own }) => {
      const { name, input, ...options } = given;
      // What was not said is left out, since a task knows nothing of pipelines.
      const { wait, form, maxSteps, startAt } = own;
      const said = { ...options, ...present({ form, maxSteps, startAt }) };
      const step = steps.get(name);
      const isTask = step === undefined || (step instanceof TaskDefinition && !step.dynamic);
      if (step === undefined) await demandTaskName(loom, name, output);
      const handle = isTask
        ? await loom.enqueueByName(name, input, said)
        : await loom.enqueue(untyped(step), input, said);
      await report(loom, handle, { wait, output });
      return undefined;
    },
    {
      flags: (command) =>
        command
          .addOption(new Option('--form <form>', 'of a pipeline').choices(RUN_FORMS))
          .option(
            '--max-steps <n>',
            'of a pipeline: how many tasks and groups it may come to',
            integerArgument(1),
          )
          .option('--start-at <node>', 'of a pipeline: begin at this node; the input is its own')
          .option('--wait [time]', 'wait for the end and print the result', durationArgument),
    },
  ),
};

/** The id, or with `--wait` the result. */
async function report(
  loom: Fairloom,
  handle: TaskHandle<unknown>,
  { wait, output }: { readonly wait: Options['wait']; readonly output: Output },
): Promise<void> {
  const { id, created, conflict } = handle;
  if (conflict) output.note('the idempotency key was used with another input before');
  if (!created) output.note(`task ${id} was stored before`);
  const answer = { id, created, conflict } satisfies JsonShapes['enqueue'];
  if (wait === undefined) {
    output.one({ json: answer, id, text: [id] });
    return;
  }
  const timeout = wait === true ? undefined : wait;
  const result = await resultSaying(loom, handle, { output, timeout });
  const text = result === undefined ? [] : jsonLines(result);
  output.one({ json: { ...answer, result }, id, text });
}
