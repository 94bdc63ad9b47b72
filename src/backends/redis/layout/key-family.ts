/** Type and name of a key of Redis. */

export type KeyType = 'HASH' | 'LIST' | 'ZSET' | 'SET' | 'STRING' | 'STREAM' | 'none';

/** All keys of one kind. */
export interface KeyFamily {
  /** `none`: part of names, without a stored value. */
  readonly type: KeyType;
  /**
   * Form of the name: fixed parts first, then at most one free text, at the end. `{p}` is the prefix with
   * its colon, `{queue}` the prefix of the keys of a queue. Two free texts are one, `{user, key}`: joined
   * as `<bytes of the first>:<first><second>`, so that different pairs have different names.
   */
  readonly name: string;
}
