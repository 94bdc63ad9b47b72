/** The drawing in docs/lifecycle.md, target by target, against the transition function itself. */
import { describe, expect, it } from 'vitest';
import { TASK_STATES } from '../../../src/domain/task/task.ts';
import {
  ALLOWED_FROM,
  type Life,
  type TaskEvent,
  transition,
} from '../../../src/domain/task/transition.ts';
import { read } from '../../support/files.ts';

const TOKEN = '1-a';

/** Each event in every form that may lead elsewhere. */
const EVENTS: readonly TaskEvent[] = [
  { type: 'due', at: 1 },
  { type: 'unblocked' },
  { type: 'leased', token: TOKEN },
  { type: 'finished', token: TOKEN },
  { type: 'retried', token: TOKEN, until: 1 },
  { type: 'released', token: TOKEN },
  { type: 'released', token: TOKEN, until: 1 },
  { type: 'deadLettered', token: TOKEN },
  { type: 'suspended', token: TOKEN, blocked: true },
  { type: 'suspended', token: TOKEN, blocked: false },
  { type: 'joined' },
  { type: 'leaseEnded', last: false },
  { type: 'leaseEnded', last: false, until: 1 },
  { type: 'leaseEnded', last: true },
  { type: 'gaveUp', failureType: 'expired' },
  { type: 'cancelRequested' },
  { type: 'canceled' },
  { type: 'redriven' },
];

const page = read('docs/lifecycle.md');
const diagram = /```mermaid\s+stateDiagram[\s\S]*?```/.exec(page)?.[0] ?? '';

/** `from -> to: event` of every edge; arrows from and to `[*]` are no events. */
function drawn(): readonly string[] {
  return [...diagram.matchAll(/^\s*(\w+)\s*-->\s*(\w+)\s*:\s*(.+?)\s*$/gm)].flatMap(
    ([, from = '', to = '', events = '']) =>
      events.split(/\s*,\s*/).map((event) => `${from} -> ${to}: ${event}`),
  );
}

function possible(): readonly string[] {
  const edges = new Set<string>();
  for (const state of TASK_STATES) {
    for (const blocked of [false, true]) {
      const life: Life = { state, blocked, dueAt: 1, token: TOKEN, cancelRequested: false };
      for (const event of EVENTS) {
        // Only joins join, and they are never in line: the drawing shows both kinds at once.
        const next = transition(event.type === 'joined' ? { ...life, join: true } : life, event);
        if (next.ok) edges.add(`${state} -> ${next.life.state}: ${event.type}`);
      }
    }
  }
  return [...edges];
}

describe('docs/lifecycle.md', () => {
  it('draws every edge once, to where the transition function leads', () => {
    expect(drawn().toSorted()).toEqual(possible().toSorted());
  });

  it('explains every state and every event', () => {
    const rows = [...page.matchAll(/^\| `(\w+)` \|/gm)].map((match) => match[1]);
    expect(rows).toEqual([...TASK_STATES, ...Object.keys(ALLOWED_FROM)]);
  });
});
