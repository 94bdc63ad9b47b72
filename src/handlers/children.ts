/** Child processes that end with this process, as far as it can ensure that. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';

/** Windows has no groups of processes, and a detached process would open a window. */
const HAS_GROUPS = process.platform !== 'win32';

/** Children that have not exited; one set per process, since all end at its exit. */
const living = new Set<ChildProcess>();

/**
 * Starts a program with an argument list, in a process group of its own: signals reach its children
 * too, and Ctrl+C in a terminal reaches only the worker. Throws what the system refuses at once.
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
    // Kills processes that it has left behind.
    signalGroup(child, 'SIGKILL');
    living.delete(child);
    if (living.size === 0) process.off('exit', killAll);
  });
  return child;
}

/** Sends a signal to a child and its own children; does nothing when they have exited. */
export function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  const { pid } = child;
  if (pid === undefined) return;
  try {
    if (HAS_GROUPS) process.kill(-pid, signal);
    else child.kill(signal);
  } catch {
    // The group does not exist any more.
  }
}

function killAll(): void {
  for (const child of living) signalGroup(child, 'SIGKILL');
}
