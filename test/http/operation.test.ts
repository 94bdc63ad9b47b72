/** An operation that is added to the table is found wherever operations are shown. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { afterAll, expect, it } from 'vitest';
import { renderRoutes } from '../../scripts/docs/routes-doc.ts';
import { programOf } from '../../src/cli/program.ts';
import { openApiDocument } from '../../src/http/document.ts';
import { apiOf } from '../../src/http/http-api.ts';
import { routesOf } from '../../src/http/routes.ts';
import { COUNT, integer, required, text } from '../../src/operations/fields.ts';
import { anyOperation } from '../../src/operations/operation.ts';
import { done } from '../../src/operations/refusal.ts';
import { testLoom } from '../../src/testing/test-loom.ts';
import { read } from '../support/files.ts';
import { requestFor } from '../support/http/every-route.ts';

const MOVE = anyOperation('shelves.move', {
  http: 'POST /shelves/{id}/move',
  command: 'shelves move <id> <place>',
  help: 'Moves a shelf.',
  needs: 'configure',
  input: {
    place: required(text('Where it goes.')),
    maxSteps: integer('How many steps it takes.', COUNT),
  },
  run: async ({ input: { id, place, maxSteps = 1 } }) => done(id, `${place} in ${maxSteps}`),
});

async function ask(body: object, can: readonly ('read' | 'configure')[] = ['configure']) {
  const api = apiOf(await testLoom([]), { access: () => ({ can }) }, [MOVE]);
  const { headers } = requestFor('POST', 'http://localhost/api/v1/');
  const init = { method: 'POST', headers, body: JSON.stringify(body) };
  const answer = await api.fetch(new Request('http://localhost/api/v1/shelves/a/move', init));
  return { status: answer.status, body: await answer.json() };
}

it('answers at its route, with its input checked', async () => {
  expect(await ask({ place: 'attic', maxSteps: 3 })).toEqual({
    status: 200,
    body: { id: 'a', ok: true, outcome: 'attic in 3' },
  });
  expect(await ask({})).toMatchObject({ status: 400, body: { option: 'place' } });
  expect(await ask({ place: 'x', maxSteps: 0 })).toMatchObject({ body: { option: 'maxSteps' } });
  expect(await ask({ place: 'x', other: 1 })).toMatchObject({ body: { option: 'other' } });
});

it('is refused without its permission', async () => {
  expect(await ask({ place: 'attic' }, ['read'])).toMatchObject({
    status: 403,
    body: { code: 'FORBIDDEN' },
  });
});

it('stands in the OpenAPI document', () => {
  expect(openApiDocument(routesOf([MOVE]))).toMatchObject({
    paths: {
      '/shelves/{id}/move': {
        post: {
          summary: 'Moves a shelf.',
          'x-effect': 'changes',
          parameters: [{ name: 'id', in: 'path' }],
          requestBody: {
            content: {
              'application/json': {
                schema: {
                  properties: { place: { type: 'string' }, maxSteps: { minimum: 1 } },
                  required: ['place'],
                },
              },
            },
          },
        },
      },
    },
  });
});

it('has a row in docs/http.md', () => {
  expect(renderRoutes(read('docs/http.md'), routesOf([MOVE]))).toContain(
    '| `POST /shelves/{id}/move` |  | `configure` | changes | whole | Moves a shelf. |',
  );
});

const DATA = mkdtempSync(join(tmpdir(), 'fairloom-operation-'));
afterAll(() => rmSync(DATA, { recursive: true, force: true }));

/** What a command line with this operation alone writes. */
async function line(...words: readonly string[]) {
  const [out, err] = [new PassThrough(), new PassThrough()];
  const shell = { out, err, env: {}, stdin: Readable.from([]), exitCode: 0 as const };
  const error = await programOf(shell, [MOVE])
    .parseAsync(words, { from: 'user' })
    .then(
      () => '',
      (thrown: Error) => thrown.message,
    );
  return { out: String(out.read() ?? ''), error };
}

it('has a command whose help is its own', async () => {
  const { out } = await line('shelves', 'move', '--help');
  expect(out).toContain('Usage: fairloom shelves move [options] <id> <place>');
  expect(out).toContain('moves a shelf');
  expect(out).toMatch(/--max-steps <n> +how many steps it takes/);
});

it('takes its input by arguments and flags, and answers as JSON', async () => {
  const words = ['shelves', 'move', 'a', 'attic', '--data', DATA];
  const { out } = await line(...words, '--max-steps', '3', '-o', 'json');
  expect(JSON.parse(out)).toEqual({ id: 'a', ok: true, outcome: 'attic in 3' });
  expect(await line(...words, '--max-steps', '0')).toMatchObject({
    error: expect.stringContaining('Expected a whole number, at least 1.'),
  });
});
