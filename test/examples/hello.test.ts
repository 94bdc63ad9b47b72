import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT, runProcess } from '../support/processes/run-process.ts';

it('examples/hello.mjs says hello and ends by itself', async () => {
  const ended = await runProcess(process.execPath, [join(ROOT, 'examples/hello.mjs')]);
  expect(ended).toEqual({ code: 0, stdout: 'Hello, Ada!\n', stderr: '' });
});
