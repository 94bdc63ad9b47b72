/** How far it is from an enqueue to a result. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import type { Way } from '../../scripts/way.ts';

/** What the way of one plain task may take: `npm run way` shows where it leads. */
const CEILINGS: Readonly<Record<string, { readonly files: number; readonly scripts: number }>> = {
  'enqueued and forgotten': { files: 36, scripts: 3 },
  'enqueued and awaited': { files: 38, scripts: 4 },
};

it('a plain task comes through few files and scripts', async () => {
  // On a server of its own: others forget their functions now and then, which would be part of the way.
  const args = ['--import', 'tsx', 'scripts/way.ts', '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const ways = JSON.parse(stdout) as readonly Way[];
  expect(ways.map(({ name }) => name)).toEqual(Object.keys(CEILINGS));
  for (const { name, functions, scripts } of ways) {
    const files = Object.keys(functions);
    // Else it has not seen the whole way.
    expect(files).toContain('client/client.ts');
    expect(files).toContain('attempt/handler-call.ts');
    expect(files).toContain('backends/redis/tasks.ts');
    expect(functions['worker/settlements.ts']).toContain('answered');
    expect(files.length, `${name}: ${files.join(' ')}`).toBeLessThanOrEqual(
      CEILINGS[name]?.files ?? 0,
    );
    expect(scripts, name).toBeLessThanOrEqual(CEILINGS[name]?.scripts ?? 0);
  }
});
