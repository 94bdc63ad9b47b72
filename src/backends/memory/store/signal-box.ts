import { LIMITS } from '../../../domain/limits.ts';
import type { SignalMessage } from '../../../domain/task/wait.ts';

/** Signals to one task that it does not wait for yet. */
export class SignalBox {
  /** Payloads by name, oldest first. */
  private readonly kept = new Map<string, string[]>();
  /** Ids of signals, oldest first; the latest are kept. */
  private readonly ids = new Set<string>();
  private count = 0;
  private bytes = 0;

  /** Payloads by name. */
  all(): Iterable<readonly [name: string, payloads: readonly string[]]> {
    return this.kept;
  }

  /** Kept ids, oldest first. */
  allIds(): Iterable<string> {
    return this.ids;
  }

  hasSeen(signalId: string | undefined): boolean {
    return signalId !== undefined && this.ids.has(signalId);
  }

  /** Stores an id, so that a repeated signal is detected. */
  remember(signalId: string | undefined): void {
    if (signalId === undefined) return;
    this.ids.add(signalId);
    if (this.ids.size <= LIMITS.signalIds) return;
    for (const oldest of this.ids) {
      this.ids.delete(oldest);
      return;
    }
  }

  /** Keeps a signal; answers the exceeded bound, if any. */
  keep({ name, payload }: SignalMessage): 'signals' | 'signalBytes' | undefined {
    const bytes = Buffer.byteLength(payload);
    if (this.count >= LIMITS.signals) return 'signals';
    if (this.bytes + bytes > LIMITS.signalBytes) return 'signalBytes';
    this.count++;
    this.bytes += bytes;
    const line = this.kept.get(name);
    if (line === undefined) this.kept.set(name, [payload]);
    else line.push(payload);
    return undefined;
  }

  /** Takes the oldest signal of a name. */
  take(name: string): string | undefined {
    const line = this.kept.get(name);
    const payload = line?.shift();
    if (payload === undefined) return undefined;
    if (line?.length === 0) this.kept.delete(name);
    this.count--;
    this.bytes -= Buffer.byteLength(payload);
    return payload;
  }
}
