import { type Command, Option } from 'commander';
import type { Duration } from '../../base/time.ts';
import type { Fairloom } from '../../client/client.ts';
import type { EnqueueOptions } from '../../enqueue/enqueue-options.ts';
import type { TaskHandle } from '../../enqueue/handle.ts';
import { RUN_FORMS, type RunEnqueueOptions, type RunForm } from '../../runs/run-options.ts';
import { untyped } from '../../workflow/notation/notation.ts';
import { TaskDefinition } from '../../workflow/task-definition.ts';
import { PRIORITY_NAMES, type Priority } from '../../workflow/task-options.ts';
import {
  durationArgument,
  inputArgument,
  integerArgument,
  momentArgument,
  offering,
  positiveArgument,
  priorityArgument,
  repeated,
} from '../terminal/arguments.ts';
import { jsonLines, type Output } from '../terminal/output.ts';
import { type Shell, withLoom } from '../terminal/session.ts';
import { demandTaskName } from '../views/by-name.ts';
import type { JsonShapes } from '../views/json-shapes.ts';
import { resultSaying } from '../views/wait.ts';

interface Options {
  readonly id?: string;
  readonly user?: string;
  readonly queue?: string;
  readonly priority?: Priority;
  readonly cost?: number;
  readonly delay?: Duration;
  readonly at?: Date;
  readonly expiresIn?: Duration;
  readonly retries?: number;
  readonly timeout?: Duration | 'none';
  readonly idempotencyKey?: string;
  readonly dependsOn?: readonly string[];
  readonly form?: string;
  readonly maxSteps?: number;
  readonly startAt?: string;
  readonly wait?: Duration | true;
}

type RunSaid = { readonly [K in 'form' | 'maxSteps' | 'startAt']?: Options[K] | undefined };

/** `fairloom enqueue <name> [input]`: a task by its name, or a pipeline that a module exports. */
export function addEnqueue(program: Command, shell: Shell): void {
  program
    .command('enqueue <name> [input]')
    .description(
      'store a task, or a pipeline of --module; the input is JSON, @file, or - for stdin',
    )
    .option('--id <id>', 'its id; enqueuing it again changes nothing')
    .option('--user <id>', 'whose turn it takes; default: default')
    .option('--queue <name>', 'default: default')
    .addOption(
      offering(
        new Option('--priority <1-6|name>', 'default: normal'),
        PRIORITY_NAMES,
        priorityArgument,
      ),
    )
    .option('--cost <turns>', 'turns that it takes; default: 1', positiveArgument)
    .option('--delay <time>', 'wait before the first start, as 30s', durationArgument)
    .option('--at <moment>', 'not before this moment, as 2030-01-31T08:00:00Z', momentArgument)
    .option('--expires-in <time>', 'not after this long', durationArgument)
    .option('--retries <n>', 'attempts after the first', integerArgument(0))
    .option('--timeout <time|none>', 'of one attempt', timeoutArgument)
    .option('--idempotency-key <key>', 'at most one task per key, name, user and queue at a time')
    .option('--depends-on <id>', 'wait for this task; may be repeated', repeated)
    .addOption(new Option('--form <form>', 'of a pipeline').choices(RUN_FORMS))
    .option('--max-steps <n>', 'of a pipeline: tasks and groups it may come to', integerArgument(1))
    .option('--start-at <node>', 'of a pipeline: begin at this node; the input is its own')
    .option('--wait [time]', 'wait for the end and print the result', durationArgument)
    .action((name: string, input: string | undefined, options: Options, command: Command) =>
      withLoom(shell, command, async (loom, output, steps) => {
        const value = await inputArgument(input, shell.stdin);
        const { form, maxSteps, startAt, ...others } = options;
        const said = ofRun(enqueueOptions(others), { form, maxSteps, startAt });
        const step = steps.get(name);
        const isTask = step === undefined || (step instanceof TaskDefinition && !step.dynamic);
        if (step === undefined) await demandTaskName(loom, name, output);
        const handle = isTask
          ? await loom.enqueueByName(name, value, said)
          : await loom.enqueue(untyped(step), value, said);
        await report(loom, handle, { wait: options.wait, output });
        return undefined;
      }),
    );
}

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

function enqueueOptions({ at, wait: _wait, priority, ...rest }: Options): EnqueueOptions {
  return {
    ...rest,
    ...(priority === undefined ? {} : { priority }),
    ...(at === undefined ? {} : { executeAfter: at }),
  };
}

/** Checked by the library; what was not said is left out, since a task knows none of it. */
function ofRun(options: EnqueueOptions, said: RunSaid): RunEnqueueOptions {
  const { form, maxSteps, startAt } = said;
  return {
    ...options,
    ...(form === undefined ? {} : { form: form as RunForm }),
    ...(maxSteps === undefined ? {} : { maxSteps }),
    ...(startAt === undefined ? {} : { startAt }),
  };
}

function timeoutArgument(text: string): Duration | 'none' {
  return text === 'none' ? text : durationArgument(text);
}
