/** Operations that look at runs. */
import type { Fairloom } from '../client/client.ts';
import { TaskNotFoundError } from '../domain/errors/errors.ts';
import { TASK_STATES } from '../domain/task/task.ts';
import type { RunDetails } from '../runs/run-info.ts';
import { RUN_FORMS } from '../runs/run-options.ts';
import type { Timeline, TimelineSpan } from './answers.ts';
import { choice, required, text } from './fields.ts';
import { narrowRun, narrowRunExplanation, narrowRuns } from './narrow.ts';
import { type Operation, operation } from './operation.ts';
import { demandSeen, pageSeen } from './owned.ts';
import { PAGE_FIELDS, pageOf } from './paging.ts';
import type { View } from './view.ts';

/** Nodes of one timeline: each is a task that is read. */
const TIMELINE_NODES = 200;

/** Tasks that are read at once. */
const AT_ONCE = 20;

/** `runs …` */
export const RUN_OPERATIONS: readonly Operation[] = [
  operation('runs.list', {
    http: 'GET /runs',
    command: 'runs list',
    help: 'Runs of workflows, in one state.',
    users: 'rows',
    input: {
      state: required(choice('In this state.', TASK_STATES, 'state')),
      form: choice('How they are carried out; default: both.', RUN_FORMS, 'form'),
      queue: text('Of this queue.', 'name'),
      user: text('Of this user.', 'id'),
      ...PAGE_FIELDS,
    },
    run: async (call) => {
      const { loom, view, input } = call;
      const { state, form, queue, user: asked } = input;
      const page = await pageSeen(call, asked, pageOf(input), (user, some) =>
        loom.runs.list({ state, form, queue, user, ...some }),
      );
      return { ...page, items: await narrowRuns(loom, view, page.items) };
    },
  }),
  operation('runs.get', {
    http: 'GET /runs/{id}',
    command: 'runs get <id>',
    help: 'Everything about one run, and its nodes.',
    users: 'subject',
    run: async ({ loom, view, input }) => {
      const run = await demandRun(loom, view, input.id);
      return narrowRun(loom, view, run);
    },
  }),
  operation('runs.graph', {
    http: 'GET /runs/{id}/graph',
    command: 'runs graph <id>',
    help: 'The graph of a run, with the states of its nodes.',
    users: 'subject',
    run: async ({ loom, view, input: { id } }) => {
      const { nodes } = await demandRun(loom, view, id);
      const { graph, states } = await loom.runs.graph(id);
      const known = nodes.filter(({ node }) => states.has(node));
      return { graph, states: Object.fromEntries(known.map(({ node, state }) => [node, state])) };
    },
  }),
  operation('runs.timeline', {
    http: 'GET /runs/{id}/timeline',
    help: 'When the nodes of a run ran.',
    users: 'subject',
    run: async ({ loom, view, input }) => timeline(loom, await demandRun(loom, view, input.id)),
  }),
  operation('runs.explain', {
    http: 'GET /runs/{id}/explain',
    command: 'runs explain <id>',
    help: 'What a run waits for, or why it did not finish.',
    users: 'subject',
    run: async ({ loom, view, input: { id } }) => {
      await demandSeen(loom, view, id);
      const whole = await loom.runs.explain(id);
      return view.users === undefined ? whole : narrowRunExplanation(loom, view, whole);
    },
  }),
  operation('graphs.show', {
    command: 'graphs show <hash>',
    help: 'A stored graph, by the hash that its runs show.',
    input: { hash: required(text('Its hash.', 'hash')) },
    run: async ({ loom, input }) => ({ graph: await loom.graphs.get(input.hash), states: {} }),
  }),
];

async function demandRun(loom: Fairloom, view: View, id: string): Promise<RunDetails> {
  await demandSeen(loom, view, id);
  const run = await loom.runs.get(id);
  if (run === undefined) throw new TaskNotFoundError(id);
  return run;
}

async function timeline(loom: Fairloom, run: RunDetails): Promise<Timeline> {
  const { id, createdAt, endedAt, nodes } = run;
  const tasks = nodes.flatMap(({ node, taskId }) =>
    taskId === undefined ? [] : [{ node, taskId }],
  );
  const spans: TimelineSpan[] = [];
  for (let at = 0; at < Math.min(tasks.length, TIMELINE_NODES); at += AT_ONCE) {
    const some = tasks.slice(at, Math.min(at + AT_ONCE, TIMELINE_NODES));
    spans.push(...(await Promise.all(some.map((one) => spansOf(loom, one)))).flat());
  }
  return {
    id,
    from: createdAt,
    ...(endedAt === undefined ? {} : { to: endedAt }),
    spans: spans.sort((a, b) => a.from - b.from),
    isCut: tasks.length > TIMELINE_NODES,
  };
}

async function spansOf(
  loom: Fairloom,
  place: { readonly node: string; readonly taskId: string },
): Promise<readonly TimelineSpan[]> {
  const [task, attempts] = await Promise.all([
    loom.tasks.get(place.taskId),
    loom.tasks.attempts(place.taskId),
  ]);
  if (task === undefined) return [];
  const { createdAt, endedAt, leasedAt, failures } = task;
  const running =
    leasedAt === undefined
      ? []
      : [{ ...place, kind: 'running' as const, attempt: failures + 1, from: leasedAt }];
  return [
    { ...place, kind: 'task', from: createdAt, ...(endedAt === undefined ? {} : { to: endedAt }) },
    ...attempts.map((one) => ({
      ...place,
      kind: 'attempt' as const,
      attempt: one.attempt,
      outcome: one.outcome,
      from: one.leasedAt,
      to: one.endedAt,
    })),
    ...running,
  ];
}
