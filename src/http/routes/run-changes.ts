/** Routes that change runs. */
import { coreOf } from '../../client/client.ts';
import {
  TaskNotFoundError,
  UnknownTaskError,
  WrongStateError,
} from '../../domain/errors/errors.ts';
import { untyped } from '../../workflow/notation/notation.ts';
import { enqueueOptions, RUN_FIELDS } from '../calls/enqueue.ts';
import { anything, flag, REASON, text } from '../calls/fields.ts';
import { demandSeen } from '../calls/owned.ts';
import { type Route, route } from '../calls/route.ts';

/** `/runs/…` */
export const RUN_CHANGES: readonly Route[] = [
  route('POST /runs', {
    summary: 'Stores a run of a pipeline that the process of the API knows, by its name.',
    needs: 'enqueue',
    users: 'subject',
    status: 201,
    body: RUN_FIELDS,
    answer: async ({ loom, view, body }) => {
      const step = coreOf(loom).registry.pipeline(body.name);
      if (step === undefined) throw new UnknownTaskError(body.name);
      const options = await enqueueOptions(loom, view, {
        ...body,
        retries: undefined,
        timeout: undefined,
        expiresIn: undefined,
        cost: undefined,
      });
      const { id, created } = await loom.enqueue(untyped(step), body.input, options);
      return { id, created };
    },
  }),
  route('POST /runs/{id}/cancel', {
    summary: 'Cancels a run and all of its nodes that have not ended.',
    needs: 'cancel',
    users: 'subject',
    body: REASON,
    answer: async ({ loom, view, path, body }) => {
      const id = path.get('id');
      await demandSeen(loom, view, id);
      const { run, nodes } = await loom.runs.cancel(id, body);
      if (run.kind === 'not-found') throw new TaskNotFoundError(id);
      if (run.kind === 'already-ended' && nodes.length === 0) {
        throw new WrongStateError('cancel', id, run.state);
      }
      return { id, ok: true, outcome: run.kind };
    },
  }),
  route('POST /runs/{id}/pause', {
    summary: 'Starts nothing more of a run until it is resumed.',
    needs: 'pause',
    users: 'subject',
    body: REASON,
    answer: async ({ loom, view, path, body }) => {
      const id = path.get('id');
      await demandSeen(loom, view, id);
      await loom.runs.pause(id, body);
      return { id, ok: true, outcome: 'paused' };
    },
  }),
  route('POST /runs/{id}/resume', {
    summary:
      'Ends the pause of a run, or puts a failed one back; what has finished is not run again.',
    needs: 'redrive',
    users: 'subject',
    body: {
      node: text('The node that failed, which runs with `input`.'),
      input: anything('Its input from now on.'),
    },
    answer: async ({ loom, view, path, body }) => {
      const id = path.get('id');
      await demandSeen(loom, view, id);
      const { node, input } = body;
      await loom.runs.resume(id, { node, ...(input === undefined ? {} : { input }) });
      return { id, ok: true, outcome: 'resumed' };
    },
  }),
  route('POST /runs/{id}/rerun', {
    summary: 'Runs it again as a new one; what has finished is not run again.',
    needs: 'enqueue',
    users: 'subject',
    status: 201,
    body: {
      from: text('Runs this node and all that follows again.'),
      input: anything('Of that node, else of the whole run.'),
      latest: flag('With the newest versions of its tasks.'),
    },
    answer: async ({ loom, view, path, body }) => {
      const id = path.get('id');
      await demandSeen(loom, view, id);
      const { from, input, latest } = body;
      const handle = await loom.runs.rerun(id, {
        from,
        ...(latest === true ? { versioning: 'latest' } : {}),
        ...(input === undefined ? {} : { input }),
      });
      return { id: handle.id, created: handle.created };
    },
  }),
];
