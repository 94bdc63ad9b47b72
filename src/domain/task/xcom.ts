/**
 * XCom: named values that tasks of one user hand on to each other. A value expires when its time has
 * passed since its writer ended, and no task waits for that writer any more.
 */
import { utf8Bytes } from '../../base/json.ts';

/** Where a value is. Two places are the same only if all three parts are. */
export interface XComPlace {
  /** Whose value it is. */
  readonly user: string;
  /** Parts the values of one user. */
  readonly namespace: string;
  /** Names the value. */
  readonly key: string;
}

/** One change of one value. */
export type XComWrite =
  | {
      readonly type: 'push';
      /** Where it goes; what is there is replaced. */
      readonly place: XComPlace;
      /** What the codec made of the value. */
      readonly text: string;
      /** How long it is kept after the end of its writer, in ms. */
      readonly ttlMs: number;
    }
  /** The value goes, if it is there. */
  | { readonly type: 'delete'; readonly place: XComPlace };

/** What is known of a value, without the value. */
export interface XComFact extends XComPlace {
  /** The task that pushed it; absent when that was no task. */
  readonly writer?: string;
  /** When that was, in ms since the epoch. */
  readonly pushedAt: number;
  /** When it goes, in ms since the epoch; absent while its writer or a dependent of that lives. */
  readonly expiresAt?: number;
}

/** A value with what is known of it. */
export interface XComValue extends XComFact {
  /** What was pushed. */
  readonly text: string;
}

/** The namespace of values that name none. */
export const XCOM_NAMESPACE = 'default';

/** What a backend knows of the task that pushed a value. */
export interface XComWriter {
  /** When it ended, in ms since the epoch; absent while it has not. */
  readonly endedAt: number | undefined;
  /** Tasks that depend on it and have not ended. */
  readonly readers: number;
}

/**
 * When a value goes, in ms since the epoch, that came at `pushedAt` and outlives its writer by `ttlMs`;
 * `undefined` while a task keeps it. `writer` is absent when no task pushed it, or the record of that
 * task is gone.
 */
export function xcomEnd(
  { pushedAt, ttlMs }: { readonly pushedAt: number; readonly ttlMs: number },
  writer: XComWriter | undefined,
): number | undefined {
  if (writer === undefined) return pushedAt + ttlMs;
  if (writer.endedAt === undefined || writer.readers > 0) return undefined;
  return Math.max(pushedAt, writer.endedAt) + ttlMs;
}

/** How many bytes a write adds to a call, at most. */
export function xcomBytes(write: XComWrite): number {
  const { user, namespace, key } = write.place;
  const text = write.type === 'push' ? write.text.length : 0;
  return 3 * (user.length + namespace.length + key.length + text);
}

/** One text for each place: the free parts but the last are preceded by their bytes. */
export function xcomPlaceText({ user, namespace, key }: XComPlace): string {
  return `${utf8Bytes(user)}:${user}${utf8Bytes(namespace)}:${namespace}${key}`;
}
