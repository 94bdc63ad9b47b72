/** The diagram in docs/lifecycle.md, made from src/domain/task/transition.ts. */
import { isEnd, TASK_STATES, type TaskState } from '../../src/domain/task/task.ts';
import {
  MOVES,
  nextState,
  type Pace,
  type Situation,
  type TaskEvent,
} from '../../src/domain/task/transition.ts';

const DRAWING = /```mermaid\nstateDiagram-v2\n[\s\S]*?```/;

const PACES: readonly Pace[] = ['now', 'later', 'never'];

/** How a task is created. */
const BIRTHS: readonly string[] = [
  '[*] --> scheduled : delay or executeAfter',
  '[*] --> deferred : an open dependency',
  '[*] --> queued : nothing to wait for',
];

/** The page with its diagram regenerated. */
export function renderLifecycle(page: string): string {
  const ends = TASK_STATES.filter(isEnd).map((state) => `${state} --> [*] : retention, remove`);
  const blocks = [BIRTHS, ...TASK_STATES.map(linesFrom), ends].filter((lines) => lines.length > 0);
  const drawn = blocks.map((lines) => lines.map((line) => `    ${line}\n`).join('')).join('\n');
  return page.replace(DRAWING, `\`\`\`mermaid\nstateDiagram-v2\n${drawn}\`\`\``);
}

/** One arrow for each resulting state, with all its events. */
function linesFrom(state: TaskState): readonly string[] {
  const events = new Map<TaskState, string[]>();
  for (const event of Object.keys(MOVES) as TaskEvent[]) {
    for (const next of targetsOf(state, event)) {
      events.set(next, [...(events.get(next) ?? []), event]);
    }
  }
  return [...events].map(([next, names]) => `${state} --> ${next} : ${names.join(', ')}`);
}

/** The states that the event leads to, for a task without a requested cancel. */
function targetsOf(state: TaskState, event: TaskEvent): ReadonlySet<TaskState> {
  const found = new Set<TaskState>();
  for (const task of situationsOf(event)) {
    // A worker that settles decides the next state; only a lease that ends may be the last.
    for (const pace of event === 'leaseEnded' ? PACES : PACES.slice(0, 2)) {
      const next = nextState(state, event, task, pace);
      if (next !== undefined) found.add(next);
    }
  }
  return found;
}

/** Only joins join, and they are never in line: the diagram shows both kinds at once. */
function situationsOf(event: TaskEvent): readonly Situation[] {
  const isJoin = event === 'joined';
  return [false, true].map((isBlocked) => ({ isBlocked, isJoin, isCanceling: false }));
}
