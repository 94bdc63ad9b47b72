/** The worked example in docs/fairness.md, recomputed from the domain functions. */
import { expect, it } from 'vitest';
import { QueueSimulation } from '../../domain/fairness/queue-simulation.ts';
import { read } from '../../support/files.ts';

const NAMES = ['ann', 'bob', 'cem', 'dan'];
const TURNS = 12;
/** Before this turn `dan` comes. */
const NEWCOMER_TURN = 7;

function rows(): readonly string[] {
  const queue = new QueueSimulation();
  queue.enter('ann', 400);
  queue.enter('bob', 100);
  queue.enter('cem', 100);
  return Array.from({ length: TURNS }, (_, at) => {
    const turn = at + 1;
    if (turn === NEWCOMER_TURN) queue.enter('dan', 200);
    const present = NAMES.slice(0, turn < NEWCOMER_TURN ? 3 : 4);
    const cells = NAMES.map((name) =>
      present.includes(name) ? queue.startOf(name).toFixed(3) : '–',
    );
    return `| ${[turn, queue.clock.v.toFixed(3), ...cells, queue.serve()].join(' | ')} |`;
  });
}

it('the worked example is what the code does', () => {
  const written = read('docs/fairness.md').match(/^\| \d+ \| .*\|$/gm);
  expect(written).toEqual(rows());
});
