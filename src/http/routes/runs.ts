/** Routes of runs. */
import type { Fairloom } from '../../client/client.ts';
import { TaskNotFoundError } from '../../domain/errors/errors.ts';
import { TASK_STATES } from '../../domain/task/task.ts';
import type { RunDetails } from '../../runs/run-info.ts';
import { RUN_FORMS } from '../../runs/run-options.ts';
import type { Timeline, TimelineSpan } from '../calls/answers.ts';
import { choice, required, text } from '../calls/fields.ts';
import { narrowRun, narrowRunExplanation, narrowRuns } from '../calls/narrow.ts';
import { demandSeen, pageSeen } from '../calls/owned.ts';
import { PAGE_FIELDS, pageOf } from '../calls/paging.ts';
import { type Route, route } from '../calls/route.ts';
import type { View } from '../calls/view.ts';

/** Nodes of one timeline: each is a task that is read. */
const TIMELINE_NODES = 200;

/** Tasks that are read at once. */
const AT_ONCE = 20;

/** `/runs` */
export const RUN_ROUTES: readonly Route[] = [
  route('GET /runs', {
    summary: 'Runs in one state.',
    users: 'rows',
    query: {
      state: required(choice('Where they stand.', TASK_STATES)),
      form: choice('How they are carried out; both unless it is said.', RUN_FORMS),
      queue: text('Of this queue.'),
      user: text('Of this user; needed for `queued`.'),
      ...PAGE_FIELDS,
    },
    answer: async (call) => {
      const { loom, view, query } = call;
      const { state, form, queue, user: asked } = query;
      const page = await pageSeen(call, asked, pageOf(query), (user, part) =>
        loom.runs.list({ state, form, queue, user, ...part }),
      );
      return { ...page, items: await narrowRuns(loom, view, page.items) };
    },
  }),
  route('GET /runs/{id}', {
    summary: 'One run with its nodes.',
    users: 'subject',
    answer: async ({ loom, view, path }) => {
      const run = await demandRun(loom, view, path.get('id'));
      return narrowRun(loom, view, run);
    },
  }),
  route('GET /runs/{id}/graph', {
    summary: 'The graph of a run, with the states of its nodes.',
    users: 'subject',
    answer: async ({ loom, view, path }) => {
      const id = path.get('id');
      const { nodes } = await demandRun(loom, view, id);
      const { graph, states } = await loom.runs.graph(id);
      const known = nodes.filter(({ node }) => states.has(node));
      return { graph, states: Object.fromEntries(known.map(({ node, state }) => [node, state])) };
    },
  }),
  route('GET /runs/{id}/timeline', {
    summary: 'When the nodes of a run ran.',
    users: 'subject',
    answer: async ({ loom, view, path }) =>
      timeline(loom, await demandRun(loom, view, path.get('id'))),
  }),
  route('GET /runs/{id}/explain', {
    summary: 'What holds a run up, or why it did not finish.',
    users: 'subject',
    answer: async ({ loom, view, path }) => {
      const id = path.get('id');
      await demandSeen(loom, view, id);
      const whole = await loom.runs.explain(id);
      return view.users === undefined ? whole : narrowRunExplanation(loom, view, whole);
    },
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
