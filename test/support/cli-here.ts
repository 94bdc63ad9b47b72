/** `fairloom …` in this process: for tests of what commands print, many of them, where the binary adds nothing. */
import { Readable, Writable } from 'node:stream';
import { runCommandLine } from '../../src/cli/program.ts';
import { type Ended, fairloom } from './processes/run-process.ts';

/** What a command is given. */
export interface Around {
  /** All that it sees of an environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
}

/** Runs a command line to its end. */
export async function fairloomHere(
  args: readonly string[],
  { env = {}, stdin = '' }: Around = {},
): Promise<Ended> {
  const [out, err] = [new Told(), new Told()];
  const code = await runCommandLine(args, {
    ...{ out, err, env, exitCode: 0 },
    stdin: Readable.from(stdin === '' ? [] : [stdin]),
  });
  return { code, stdout: out.text, stderr: err.text };
}

/** The same, but by the binary where a module is loaded, which needs a process of its own. */
export function fairloomQuick(args: readonly string[], around: Around = {}): Promise<Ended> {
  return args.includes('--module') ? fairloom(args, around) : fairloomHere(args, around);
}

class Told extends Writable {
  text = '';

  override _write(chunk: unknown, _encoding: string, done: () => void): void {
    this.text += String(chunk);
    done();
  }
}
