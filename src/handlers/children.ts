/** Child processes that do not outlive this one, as far as this one has a say. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';

/** On Windows there are no groups of processes, and a process apart would open a window. */
const HAS_GROUPS = process.platform !== 'win32';

/** Those that have not exited; of the whole process, since so is its exit. */
const living = new Set<ChildProcess>();

/**
 * Starts a program by its argument list, in a group of its own: so its children can be ended with
 * it, and Ctrl+C in a terminal reaches the worker alone. Throws what the system refuses at once.
 */
export function spawnChild(
  command: string,
  args: readonly string[],
  options: SpawnOptions,
): ChildProcess {
  const own = { shell: false, detached: HAS_GROUPS, windowsHide: true } as const;
  const child = spawn(command, args, { ...options, ...own });
  if (child.pid === undefined) return child;
  if (living.size === 0) process.on('exit', killAll);
  living.add(child);
  child.once('exit', () => {
    // What it has left behind goes with it.
    signalGroup(child, 'SIGKILL');
    living.delete(child);
    if (living.size === 0) process.off('exit', killAll);
  });
  return child;
}

/** Sends a signal to a child and its own children; does nothing when they are gone. */
export function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  const { pid } = child;
  if (pid === undefined) return;
  try {
    if (HAS_GROUPS) process.kill(-pid, signal);
    else child.kill(signal);
  } catch {
    // No such group any more.
  }
}

function killAll(): void {
  for (const child of living) signalGroup(child, 'SIGKILL');
}
