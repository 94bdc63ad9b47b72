/** docs/lifecycle.md against the table that it is drawn from. */
import { describe, expect, it } from 'vitest';
import { renderLifecycle } from '../../../scripts/docs/lifecycle-doc.ts';
import { TASK_STATES } from '../../../src/domain/task/task.ts';
import { MOVES } from '../../../src/domain/task/transition.ts';
import { read } from '../../support/files.ts';

const page = read('docs/lifecycle.md');

describe('docs/lifecycle.md', () => {
  it('has the drawing that "npm run docs" writes', () => {
    expect(page).toBe(renderLifecycle(page));
  });

  it('draws an arrow for every event from every state that it may take a task from', () => {
    const diagram = /```mermaid\s+stateDiagram[\s\S]*?```/.exec(page)?.[0] ?? '';
    const drawn = [...diagram.matchAll(/^\s*(\w+) --> \w+ : (.+)$/gm)].flatMap(
      ([, from = '', events = '']) => events.split(', ').map((event) => `${from}: ${event}`),
    );
    const allowed = Object.entries(MOVES).flatMap(([event, { from }]) =>
      from.map((state) => `${state}: ${event}`),
    );
    expect([...new Set(drawn)].sort()).toEqual(allowed.sort());
  });

  it('explains every state and every event', () => {
    const rows = [...page.matchAll(/^\| `(\w+)` \|/gm)].map((match) => match[1] ?? '');
    expect(rows.slice(0, TASK_STATES.length)).toEqual([...TASK_STATES]);
    expect(rows.slice(TASK_STATES.length).sort()).toEqual(Object.keys(MOVES).sort());
  });
});
