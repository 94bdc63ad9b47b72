/** Operations that store and change runs. */
import { coreOf } from '../client/client.ts';
import {
  InvalidOptionError,
  TaskNotFoundError,
  UnknownTaskError,
  WrongStateError,
} from '../domain/errors/errors.ts';
import type { RerunOptions } from '../runs/calls/rerun.ts';
import { untyped } from '../workflow/notation/notation.ts';
import { enqueueOptions, RUN_FIELDS } from './enqueue.ts';
import { anything, COUNT, flag, flagged, integer, REASON, required, text } from './fields.ts';
import { type Operation, operation } from './operation.ts';
import { demandSeen } from './owned.ts';
import { done } from './refusal.ts';

/** What may be said of a run that is made of another. */
const AGAIN = {
  latest: flag('With the newest versions of its tasks.'),
  maxSteps: integer('How many tasks and groups it may come to.', COUNT),
  newId: flagged(text('The id of the new run.', 'id'), 'id'),
} as const;

/** `runs …` */
export const RUN_CHANGES: readonly Operation[] = [
  operation('runs.start', {
    http: 'POST /runs',
    help: 'Stores a run of a pipeline that the process of the API knows, by its name.',
    needs: 'enqueue',
    users: 'subject',
    status: 201,
    input: RUN_FIELDS,
    run: async ({ loom, view, input }) => {
      const step = coreOf(loom).registry.pipeline(input.name);
      if (step === undefined) throw new UnknownTaskError(input.name);
      const options = await enqueueOptions(loom, view, input);
      const { id, created } = await loom.enqueue(untyped(step), input.input, options);
      return { id, created };
    },
  }),
  operation('runs.cancel', {
    http: 'POST /runs/{id}/cancel',
    command: 'runs cancel <id...>',
    help: 'Cancels runs and all of their nodes that have not ended.',
    needs: 'cancel',
    effect: 'destroys',
    users: 'subject',
    input: REASON,
    run: async ({ loom, view, input: { id, reason } }) => {
      await demandSeen(loom, view, id);
      const { run, nodes } = await loom.runs.cancel(id, { reason });
      if (run.kind === 'not-found') throw new TaskNotFoundError(id);
      if (run.kind === 'already-ended' && nodes.length === 0) {
        throw new WrongStateError('cancel', id, run.state);
      }
      return done(id, run.kind);
    },
  }),
  operation('runs.pause', {
    http: 'POST /runs/{id}/pause',
    command: 'runs pause <id...>',
    help: 'Stops starting tasks of runs until they are resumed; running tasks continue.',
    needs: 'pause',
    users: 'subject',
    input: REASON,
    run: async ({ loom, view, input: { id, reason } }) => {
      await demandSeen(loom, view, id);
      await loom.runs.pause(id, { reason });
      return done(id, 'paused');
    },
  }),
  operation('runs.resume', {
    http: 'POST /runs/{id}/resume',
    command: 'runs resume <id...>',
    help: 'Ends pauses, or puts failed runs back; finished tasks are not run again.',
    needs: 'redrive',
    users: 'subject',
    input: {
      node: text('The node that failed, which runs with `input`.', 'node'),
      input: anything('The input of that node from now on.'),
    },
    run: async ({ loom, view, input: { id, node, input } }) => {
      await demandSeen(loom, view, id);
      await loom.runs.resume(id, { node, ...(input === undefined ? {} : { input }) });
      return done(id, 'resumed');
    },
  }),
  operation('runs.rerun', {
    http: 'POST /runs/{id}/rerun',
    command: 'runs rerun <id>',
    help: 'Runs it again as a new run; finished tasks are not run again.',
    needs: 'enqueue',
    users: 'subject',
    status: 201,
    input: {
      from: text('Runs this node and all that follow it again.', 'node'),
      input: anything('The input of that node, else of the whole run.'),
      ...AGAIN,
    },
    run: async ({ loom, view, input: { id, from, ...again } }) => {
      await demandSeen(loom, view, id);
      if (again.newId !== undefined && view.users !== undefined) {
        throw new InvalidOptionError('newId', 'nothing: the id is chosen here', again.newId);
      }
      const handle = await loom.runs.rerun(id, { ...againOptions(again), from });
      return { id: handle.id, created: handle.created };
    },
  }),
  operation('runs.fork', {
    command: 'runs fork <id>',
    help: 'Stores a new run that begins at a node of this one, also while it goes on, with its channels as they are.',
    needs: 'enqueue',
    input: {
      id: required(text('The run.', 'id')),
      from: required(text('The node with which the new run begins.', 'node')),
      input: anything('The input of that node.'),
      ...AGAIN,
    },
    run: async ({ loom, input: { id, from, ...again } }) => {
      const handle = await loom.runs.fork(id, { ...againOptions(again), from });
      return { id: handle.id, created: handle.created };
    },
  }),
  operation('runs.export', {
    command: 'runs export <id>',
    help: 'The whole run as JSON, to be kept or imported elsewhere.',
    input: { id: required(text('The run.', 'id')) },
    run: async ({ loom, input }) => loom.runs.export(input.id),
  }),
];

interface Again {
  readonly input: unknown;
  readonly latest: boolean | undefined;
  readonly maxSteps: number | undefined;
  readonly newId: string | undefined;
}

/** An input is there only when it was said: its value may be anything. */
function againOptions({ input, latest, maxSteps, newId: id }: Again): RerunOptions {
  const versioning = latest === true ? 'latest' : undefined;
  return { id, versioning, maxSteps, ...(input === undefined ? {} : { input }) };
}
