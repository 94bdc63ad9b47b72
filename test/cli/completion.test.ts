/** Completion scripts: what bash offers at the cursor, and what all three are made of. */
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allCommands } from '../support/docs/cli-help.ts';
import { fairloom, runProcess } from '../support/processes/run-process.ts';

let folder: string;
let script: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fairloom-completion-'));
  script = join(folder, 'fairloom.bash');
  writeFileSync(script, (await fairloom(['completion', 'bash'])).stdout);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** What bash offers for the last of these words. */
async function offered(...words: readonly string[]): Promise<readonly string[]> {
  const program = [
    `source ${script}`,
    'COMP_WORDS=("$@")',
    'COMP_CWORD=$(($# - 1))',
    '_fairloom',
    `printf '%s\\n' "$\{COMPREPLY[@]}"`,
  ].join('\n');
  const ended = await runProcess('bash', ['-c', program, 'bash', 'fairloom', ...words], {
    cwd: folder,
  });
  expect(ended.stderr).toBe('');
  return ended.stdout.trim().split('\n');
}

describe('in bash', () => {
  it('nouns and verbs come one after the other', async () => {
    expect(await offered('')).toEqual(expect.arrayContaining(['tasks', 'runs', 'demo', 'top']));
    expect(await offered('ta')).toEqual(['tasks']);
    expect((await offered('tasks', 're')).toSorted()).toEqual(['redrive', 'remove']);
    expect((await offered('dead', '')).toSorted()).toEqual(['groups', 'list', 'redrive', 'remove']);
  });

  it('options are those of the command, and the global ones', async () => {
    const flags = await offered('tasks', 'list', '--');
    expect(flags).toEqual(expect.arrayContaining(['--state', '--redis', '--output']));
    expect(flags).not.toContain('--weight');
    expect(await offered('users', 'set', '--we')).toEqual(['--weight']);
  });

  it('values follow their option, wherever that stands', async () => {
    const forms = ['table', 'json', 'jsonl', 'id'];
    expect(await offered('tasks', 'list', '-o', '')).toEqual(expect.arrayContaining(forms));
    expect(await offered('--output', 'js')).toEqual(['json', 'jsonl']);
    expect(await offered('--prefix', 'tasks', 'us')).toEqual(['users']);
  });

  // F36
  it('states, priorities and forms are offered, and files only where a file is meant', async () => {
    expect(await offered('tasks', 'list', '--state', 'f')).toEqual(['finished', 'failed']);
    expect(await offered('runs', 'list', '--state', 'can')).toEqual(['canceled']);
    expect(await offered('enqueue', 'x', '--priority', 'very-')).toEqual(['very-low', 'very-high']);
    expect(await offered('enqueue', 'x', '--form', '')).toEqual(['dispatched', 'driven']);
    expect(await offered('worker', 'x', '--steal', '')).toEqual(['any', 'none']);
    expect(await offered('tasks', 'list', '--user', '')).toEqual(['']);
    expect(await offered('tasks', 'list', '--limit', 'fairl')).toEqual(['']);
    expect(await offered('tasks', 'list', '--config', 'fairl')).toEqual(['fairloom.bash']);
    expect(await offered('-m', 'fairl')).toEqual(['fairloom.bash']);
    expect(await offered('tasks', 'list', '-o', '')).not.toContain('yaml');
  });

  it('files are offered where a command takes any word', async () => {
    expect(await offered('worker', 'fairl')).toEqual(['fairloom.bash']);
  });
});

it.each(['bash', 'zsh', 'fish'])('%s is told of every command', async (shell) => {
  const { code, stdout } = await fairloom(['completion', shell]);
  expect(code).toBe(0);
  for (const command of await allCommands()) {
    for (const word of command.split(' ')) expect(stdout).toContain(word);
  }
  expect(stdout).toContain('fairloom');
});

it('another shell is refused', async () => {
  const { code, stderr } = await fairloom(['completion', 'powershell']);
  expect(code).toBe(2);
  expect(stderr).toContain('bash, zsh, fish');
});
