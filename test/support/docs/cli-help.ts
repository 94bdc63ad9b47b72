/** What the command line says about itself, asked in this process. */
import { PassThrough } from 'node:stream';
import { runCommandLine } from '../../../src/cli/program.ts';

/** The help of a command (`['tasks', 'list']`; `[]` for the whole). */
export async function helpOf(command: readonly string[]): Promise<string> {
  const out = new PassThrough();
  const shell = { out, err: new PassThrough(), env: {}, stdin: new PassThrough(), exitCode: 0 };
  await runCommandLine([...command, '--help'], shell as Parameters<typeof runCommandLine>[1]);
  return String(out.read() ?? '');
}

/** Every command that does something, as `tasks list`. */
export async function allCommands(command: readonly string[] = []): Promise<readonly string[]> {
  const parts = (await helpOf(command)).split('\n\n');
  const list = parts.find((part) => part.startsWith('Commands:')) ?? '';
  const names = [...list.matchAll(/^ {2}([a-z][a-z-]*)/gm)]
    .map(([, name = '']) => name)
    .filter((name) => name !== 'help');
  if (names.length === 0) return [command.join(' ')];
  const below = await Promise.all(names.map((name) => allCommands([...command, name])));
  return below.flat();
}
