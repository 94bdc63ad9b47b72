/** Pipelines whose nodes write down what they got, and fail when they are told to. */
import { type Flow, flow } from '../../../src/workflow/flow.ts';
import { parallel } from '../../../src/workflow/parallel.ts';
import type { StandardSchemaV1 } from '../../../src/workflow/standard-schema.ts';
import type { Task } from '../../../src/workflow/step.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import type { Harness } from '../../support/backends.ts';
import { settled } from '../../support/runs.ts';

/** What nodes got, in the order in which they ran: `node(input)`. */
export const ran: string[] = [];
/** Nodes that fail. */
export const broken = new Set<string>();

/** Texts that end with a full stop are no inputs of `strict`. */
const schema: StandardSchemaV1<string> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value) =>
      typeof value === 'string' && !value.endsWith('.')
        ? { value }
        : { issues: [{ message: 'ends with a full stop' }] },
  },
};

function node<const N extends string>(name: N, input?: typeof schema): Task<string, string> {
  const options = { retries: 0, ...(input === undefined ? {} : { input }) };
  return task(name, options, async (given: string): Promise<string> => {
    ran.push(`${name}(${String(given)})`);
    if (broken.has(name)) throw new RangeError(`${name} is broken`);
    return `${String(given)}${name}`;
  });
}

export const [a, b, c, d] = [node('a'), node('b'), node('c'), node('d')];
const strict = node('strict', schema);
const join = task('join', async (given: Record<string, string>) => Object.values(given).join('+'));
export const line = a.pipe(b).pipe(c).as('line');
export const checked = a.pipe(strict).pipe(c).as('checked');
export const parted = a.pipe(b.pipe(c).as('part')).pipe(d).as('parted');
export const grouped = a
  .pipe(parallel({ b, c }, { name: 'group' }))
  .pipe(join)
  .as('grouped');
/** Its last step reads the output of both. */
export const crossed = flow('crossed', (f: Flow<string>) => {
  const first = f.step(a, f.input);
  return f.step(join, { first, second: f.step(b, first) });
});

export const FORMS = ['dispatched', 'driven'] as const;

/** Forgets what has run. */
export function again(): void {
  ran.length = 0;
  broken.clear();
}

/** What a run that does not finish rejects with. */
export function failure(harness: Harness, result: Promise<unknown>): Promise<unknown> {
  return settled(
    harness,
    result.then(
      () => new Error('it finished'),
      (error: unknown) => error,
    ),
  );
}
