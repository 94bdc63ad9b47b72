/**
 * XCom: named values that tasks of one user pass to each other. A value expires when its time has
 * passed since its writer ended, and no task waits for that writer any more.
 */
import { utf8Bytes } from '../../base/json.ts';

/** Address of a value, by all three parts. */
export interface XComPlace {
  /** User of the value. */
  readonly user: string;
  /** Namespace within the user's values. */
  readonly namespace: string;
  /** Key within the namespace. */
  readonly key: string;
}

/** A change of one value. */
export type XComWrite =
  | {
      readonly type: 'push';
      /** Address of the value; a stored value is replaced. */
      readonly place: XComPlace;
      /** The value as the codec encodes it. */
      readonly text: string;
      /** How long it is kept after the end of its writer, in ms. */
      readonly ttlMs: number;
    }
  /** Removes the value, if it is stored. */
  | { readonly type: 'delete'; readonly place: XComPlace };

/** Facts about a value, without the value. */
export interface XComFact extends XComPlace {
  /** Id of the task that wrote it; absent when no task did. */
  readonly writer?: string;
  /** Moment of the write, in ms since the epoch. */
  readonly pushedAt: number;
  /** Expiry, in ms since the epoch; absent while its writer or a dependent of the writer has not ended. */
  readonly expiresAt?: number;
}

/** A value with its facts. */
export interface XComValue extends XComFact {
  /** The value as text. */
  readonly text: string;
}

/** The default namespace. */
export const XCOM_NAMESPACE = 'default';

/** Facts about the task that wrote a value. */
export interface XComWriter {
  /** Its end, in ms since the epoch; absent before. */
  readonly endedAt: number | undefined;
  /** Number of its dependents that have not ended. */
  readonly readers: number;
}

/**
 * Expiry of a value, in ms since the epoch, written at `pushedAt` and kept for `ttlMs` after its
 * writer; `undefined` while a task keeps it. `writer` is absent when no task wrote it, or its
 * record was removed.
 */
export function xcomEnd(
  { pushedAt, ttlMs }: { readonly pushedAt: number; readonly ttlMs: number },
  writer: XComWriter | undefined,
): number | undefined {
  if (writer === undefined) return pushedAt + ttlMs;
  if (writer.endedAt === undefined || writer.readers > 0) return undefined;
  return Math.max(pushedAt, writer.endedAt) + ttlMs;
}

/** Most bytes that a write adds to a call. */
export function xcomBytes(write: XComWrite): number {
  const { user, namespace, key } = write.place;
  const text = write.type === 'push' ? write.text.length : 0;
  return 3 * (user.length + namespace.length + key.length + text);
}

/** One text per address: user and namespace are preceded by their number of bytes. */
export function xcomPlaceText({ user, namespace, key }: XComPlace): string {
  return `${utf8Bytes(user)}:${user}${utf8Bytes(namespace)}:${namespace}${key}`;
}
