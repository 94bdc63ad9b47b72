/** Processes that claim a folder, or work in one. They end with the test, however that does. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';

/** What such a process says. */
export interface Said {
  readonly event: string;
  /** Ms since the epoch. */
  readonly at: number;
  readonly epoch?: number;
  readonly owns?: boolean;
  readonly isSilent?: boolean;
  readonly code?: string;
  readonly why?: string;
  readonly called?: number;
  readonly worked?: number;
}

/** How long something may take on a machine that is busy, in ms. */
const UNTIL_MS = 300_000;

const SOURCES = {
  claimant: new URL('claimant.ts', import.meta.url),
  member: new URL('member.ts', import.meta.url),
};

const programs = new Map<string, Promise<string>>();
const folders: string[] = [];

/** A program as one file, which starts in a tenth of a second. */
function bundled(name: keyof typeof SOURCES): Promise<string> {
  const program = programs.get(name) ?? bundle(name);
  programs.set(name, program);
  return program;
}

async function bundle(name: keyof typeof SOURCES): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), `fairloom-${name}-`));
  const file = join(folder, `${name}.mjs`);
  folders.push(folder);
  await build({
    input: fileURLToPath(SOURCES[name]),
    platform: 'node',
    transform: { target: 'node20.19' },
    output: { file, format: 'esm' },
  });
  return file;
}

/** When no more are started. */
export function removeProgram(): void {
  programs.clear();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

const running = new Set<ChildProcess>();

/** One of them. */
export class Claimant {
  readonly said: Said[] = [];
  readonly exited: Promise<void>;
  readonly #child: ChildProcess;
  readonly #looks: (() => void)[] = [];
  /** What it said before does not count. */
  #from = 0;
  #stderr = '';

  private constructor(args: readonly string[]) {
    this.#child = spawn(process.execPath, args, { stdio: 'pipe' });
    running.add(this.#child);
    const { stdout, stderr } = this.#child;
    if (stdout !== null) {
      createInterface({ input: stdout }).on('line', (line) => {
        this.said.push(JSON.parse(line) as Said);
        this.#look();
      });
    }
    stderr?.on('data', (text: Buffer) => {
      this.#stderr += text.toString();
    });
    this.exited = new Promise((resolve) => {
      this.#child.once('exit', () => {
        running.delete(this.#child);
        this.#look();
        resolve();
      });
    });
  }

  /** Starts one, which does nothing yet; time passes for it so many times as fast. */
  static async start(folder: string, speed = 1): Promise<Claimant> {
    const claimant = new Claimant([await bundled('claimant'), folder, String(speed)]);
    await claimant.until('ready');
    return claimant;
  }

  /** Starts one that enters and has nothing else to do. */
  static async idle(folder: string): Promise<Claimant> {
    return new Claimant([await bundled('claimant'), folder, '1', 'idle']);
  }

  /** Starts a process of an app, which enqueues and works until it is told to leave. */
  static async member(folder: string, name: string): Promise<Claimant> {
    const member = new Claimant([await bundled('member'), folder, name]);
    await member.until('ready');
    return member;
  }

  /** Starts some. */
  static all(count: number, folder: string, speed = 1): Promise<readonly Claimant[]> {
    return Promise.all(Array.from({ length: count }, () => Claimant.start(folder, speed)));
  }

  get isOwner(): boolean {
    return this.#last() === 'owner';
  }

  get isGuest(): boolean {
    return this.#last() === 'guest';
  }

  /** Lets it do something. */
  send(word: 'enter' | 'owns' | 'call' | 'never' | 'leave'): void {
    this.#child.stdin?.write(`${word}\n`);
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** What it has said so far does not count. */
  forget(): void {
    this.#from = this.said.length;
  }

  /** What it says of this kind, as soon as it does. */
  until(event: string): Promise<Said> {
    return this.#until((said) => said.event === event, event);
  }

  /** Until it is an owner or a guest. */
  entered(): Promise<Said> {
    return this.#until(({ event }) => event === 'owner' || event === 'guest', 'role');
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.exited;
  }

  #last(): string | undefined {
    return this.said.findLast(({ event }) => ['owner', 'guest', 'gone', 'over'].includes(event))
      ?.event;
  }

  async #until(fits: (said: Said) => boolean, what: string): Promise<Said> {
    const fail = (): Error => {
      const said = this.said.slice(this.#from).map((one) => JSON.stringify(one));
      return new Error(`no ${what}: ${said.join(' ')} ${this.#stderr}`);
    };
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(fail()), UNTIL_MS);
    });
    try {
      for (;;) {
        const found = this.said.slice(this.#from).find(fits);
        if (found !== undefined) return found;
        if (!running.has(this.#child)) throw fail();
        await Promise.race([new Promise<void>((resolve) => this.#looks.push(resolve)), late]);
      }
    } finally {
      clearTimeout(timer);
    }
  }

  #look(): void {
    for (const look of this.#looks.splice(0)) look();
  }
}

/** Ends those that are left. */
export function endProcesses(): void {
  for (const child of running) child.kill('SIGKILL');
}
process.once('exit', endProcesses);
