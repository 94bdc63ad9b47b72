/** What a key of Redis is: its type, and how its name is made. */

export type KeyType = 'HASH' | 'LIST' | 'ZSET' | 'SET' | 'STRING' | 'STREAM' | 'none';

/** All keys of one kind. */
export interface KeyFamily {
  /** `none`: a part of names, under which nothing is stored. */
  readonly type: KeyType;
  /**
   * How a name is made: fixed parts first, then at most one free text, and that last. `{p}` is the prefix with
   * its colon, `{queue}` what begins the keys of a queue. Two free texts are one, `{user, key}`: joined as
   * `<bytes of the first>:<first><second>`, so that no two pairs share a name.
   */
  readonly name: string;
}
